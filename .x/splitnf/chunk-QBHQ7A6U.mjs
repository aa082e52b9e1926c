import{__commonJS}from"./chunk-SFOWPKN3.mjs";var require_node_fs=__commonJS({"bi:node:fs"(exports,module){module.exports=process.getBuiltinModule("node:fs")}});export{require_node_fs};
