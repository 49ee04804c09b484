/**
 * A JSON text with a line for each value, every digit as it stands: numbers are never read. The page's script has the
 * same function, by its source text, so it uses nothing from outside.
 */
export const prettyJson = (json: string): string => {
  let text = ''
  let depth = 0
  const line = (): string => `\n${'  '.repeat(depth)}`
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[[{]\s*[\]}]|[[\]{},:]|[^\s[\]{},:"]+/g)) {
    if (token === '{' || token === '[') {
      depth += 1
      text += token + line()
    } else if (token === '}' || token === ']') {
      depth -= 1
      text += line() + token
    } else if (token === ',') text += token + line()
    else if (token === ':') text += ': '
    else text += token
  }
  return text
}
