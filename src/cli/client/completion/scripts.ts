// What the shells run to complete a line. Each asks `tenantry __complete`, which prints a candidate a line.

const bash = `_tenantry() {
  local IFS=$'\\n' words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  COMPREPLY=($(tenantry __complete -- "\${words[@]}" 2>/dev/null))
  [[ \${COMPREPLY[0]} == */ && \${#COMPREPLY[@]} == 1 ]] && compopt -o nospace
  local word="\${COMP_WORDS[COMP_CWORD]}"
  if [[ $word == *:* ]]; then COMPREPLY=("\${COMPREPLY[@]#\${word%:*}:}"); fi
}
complete -o default -F _tenantry tenantry
`;

const zsh = `#compdef tenantry
_tenantry() {
  local -a found
  found=("\${(@f)$(tenantry __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  [[ -n $found ]] && compadd -S '' -U -- "\${found[@]}" || _files
}
compdef _tenantry tenantry
`;

const fish = `function __tenantry_complete
  set -l words (commandline -opc) (commandline -ct)
  tenantry __complete -- $words[2..-1] 2>/dev/null
end
complete -c tenantry -f -a '(__tenantry_complete)'
`;

/** The scripts, by their shells. */
export const completionScripts: Readonly<Record<string, string>> = { bash, zsh, fish };
