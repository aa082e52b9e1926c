import{plainRow,run}from"./chunk-I5LIHZK4.mjs";import"./chunk-DYCWI5BC.mjs";import"./chunk-FI5JVWHB.mjs";import"./chunk-J6SWJF5P.mjs";import"./chunk-SFOWPKN3.mjs";export{plainRow,run};
