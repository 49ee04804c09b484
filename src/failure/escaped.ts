/**
 * Foreign text, made safe for a message: escapes every character that could disturb a log or a terminal
 * (controls, line separators, direction marks, lone surrogates).
 */
export const escaped = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, mark => `\\u{${(mark.codePointAt(0) ?? 0).toString(16)}}`)
