/** The messages of a command that ended or paused, one after the other. */
export const saidIn = (err: string): string =>
  err
    .split('\n')
    .filter(line => /^(?:iostlens: | {2}\S)/.test(line) || /\b(?:WARN|ERROR|warn|error)\b/.test(line))
    .slice(-6)
    .join(' | ')

const COMMAND =
  /\biostlens (repair|verify|load|indices create|indices check|indices migrate)((?: --[a-z-]+(?: URL\b| https?:\/\/[^\s.,"']+(?:[.,][^\s.,"']+)*)?)*)/

/** The words of the first command named by a message, with `URL` where the operator is to give one. undefined: none. */
export function remedyIn(text: string): readonly string[] | undefined {
  const [, command, options = ''] = COMMAND.exec(text) ?? []
  return command === undefined ? undefined : `${command}${options}`.trim().split(/\s+/)
}
