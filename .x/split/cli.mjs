if(process.argv.length===3&&(process.argv[2]==="--version"||process.argv[2]==="-V"))process.stdout.write(`0.1.0
`);else{let{runCommandLine}=await import("./run-TKKYCMYR.mjs");process.exitCode=await runCommandLine(process.argv.slice(2))}
