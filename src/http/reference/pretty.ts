/**
 * Formats a JSON text with one value per line. Numbers are not parsed, so every digit is kept. The page's
 * script contains this function by its source text, so the function refers to nothing outside of it.
 */
export function prettyJson(json: string): string {
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
