var run=async call=>{let result=(await call.open()).trust({revoke:call.flag("revoke")});return call.json?call.terminal.json(result):call.terminal.print(result.message),0};export{run};
