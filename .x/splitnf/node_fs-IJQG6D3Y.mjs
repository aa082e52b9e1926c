import{require_node_fs}from"./chunk-QBHQ7A6U.mjs";import"./chunk-SFOWPKN3.mjs";export default require_node_fs();
