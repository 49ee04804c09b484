/** What a command said when it ended or paused: its messages, one after the other. */
export const saidIn = (err: string): string =>
  err
    .split('\n')
    .filter(line => /^(?:iostlens: | {2}\S)/.test(line) || /\b(?:WARN|ERROR|warn|error)\b/.test(line))
    .slice(-6)
    .join(' | ')

const COMMAND =
  /\biostlens (repair|verify|load|indices create|indices check|indices migrate)((?: --[a-z-]+(?: URL\b| https?:\/\/[^\s.,"']+(?:[.,][^\s.,"']+)*)?)*)/

/** The first command that a message names, word by word, `URL` where the operator is to give one; undefined: none. */
export const remedyIn = (text: string): readonly string[] | undefined => {
  const [, command, options = ''] = COMMAND.exec(text) ?? []
  return command === undefined ? undefined : `${command}${options}`.trim().split(/\s+/)
}
