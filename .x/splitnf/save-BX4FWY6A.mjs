import{printSaved,run}from"./chunk-OYCWMWMZ.mjs";import"./chunk-J6SWJF5P.mjs";import"./chunk-QBHQ7A6U.mjs";import"./chunk-6G76UXOG.mjs";import"./chunk-SFOWPKN3.mjs";export{printSaved,run};
