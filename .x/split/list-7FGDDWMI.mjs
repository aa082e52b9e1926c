import{plainRow,run}from"./chunk-MREWW2ZE.mjs";import"./chunk-FI5JVWHB.mjs";import"./chunk-J6SWJF5P.mjs";import"./chunk-DYCWI5BC.mjs";export{plainRow,run};
