import{require_node_path}from"./chunk-6G76UXOG.mjs";import"./chunk-SFOWPKN3.mjs";export default require_node_path();
