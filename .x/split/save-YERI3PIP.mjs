import{printSaved,run}from"./chunk-2F6RYKB4.mjs";import"./chunk-J6SWJF5P.mjs";export{printSaved,run};
