import{printMemory,run}from"./chunk-SKI4SQ5A.mjs";import"./chunk-DYCWI5BC.mjs";export{printMemory,run};
