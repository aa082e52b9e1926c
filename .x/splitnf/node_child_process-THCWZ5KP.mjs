import{require_node_child_process}from"./chunk-4OTGUL5K.mjs";import"./chunk-SFOWPKN3.mjs";export default require_node_child_process();
