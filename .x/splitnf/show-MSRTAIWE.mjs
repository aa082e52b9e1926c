import{printMemory,run}from"./chunk-SKI4SQ5A.mjs";import"./chunk-DYCWI5BC.mjs";import"./chunk-SFOWPKN3.mjs";export{printMemory,run};
