import{__commonJS}from"./chunk-SFOWPKN3.mjs";var require_node_path=__commonJS({"bi:node:path"(exports,module){module.exports=process.getBuiltinModule("node:path")}});export{require_node_path};
