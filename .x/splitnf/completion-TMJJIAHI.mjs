import{COMMANDS,COMMON_OPTIONS}from"./chunk-4RMIFXTC.mjs";import{MemdirError}from"./chunk-J6SWJF5P.mjs";import"./chunk-SFOWPKN3.mjs";var run=async call=>{let shell=call.args[0],script=SCRIPTS[shell];if(!script)throw new MemdirError("usage",`no completion for "${shell}": choose bash, zsh or fish`);return call.terminal.print(script()),0},names=()=>COMMANDS.map(c=>c.name).join(" "),optionsOf=options=>Object.keys({...options,...COMMON_OPTIONS}).map(name=>`--${name}`).join(" "),SCRIPTS={bash:()=>`_memdir() {
  local word="\${COMP_WORDS[COMP_CWORD]}"
  if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=($(compgen -W "${names()}" -- "$word")); return; fi
  case "\${COMP_WORDS[1]}" in
${COMMANDS.map(c=>`    ${c.name}) COMPREPLY=($(compgen -W "${optionsOf(c.options)}" -- "$word")) ;;`).join(`
`)}
  esac
}
complete -o default -F _memdir memdir`,zsh:()=>`autoload -U +X bashcompinit && bashcompinit
${SCRIPTS.bash?.()??""}`,fish:()=>COMMANDS.flatMap(c=>[`complete -c memdir -n __fish_use_subcommand -a ${c.name} -d ${quote(c.summary)}`,...Object.entries({...c.options,...COMMON_OPTIONS}).map(([name,{help}])=>`complete -c memdir -n "__fish_seen_subcommand_from ${c.name}" -l ${name} -d ${quote(help)}`)]).join(`
`)};function quote(text){return`'${text.replaceAll("'","\\'")}'`}export{run};
