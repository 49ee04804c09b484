/** Records of a CSV text, by the grammar of RFC 4180 alone. Throws on invalid text. */
function readCsv(text: string): readonly (readonly string[])[] {
  const records: string[][] = []
  let at = 0
  const cell = (): string => {
    if (text[at] !== '"') {
      const end = text.slice(at).search(/[",\r\n]/)
      const plain = end < 0 ? text.slice(at) : text.slice(at, at + end)
      at += plain.length
      return plain
    }
    let value = ''
    for (at += 1; ; ) {
      const end = text.indexOf('"', at)
      if (end < 0) throw new SyntaxError('A quote is not closed.')
      value += text.slice(at, end)
      at = end + 1
      if (text[at] !== '"') return value
      value += '"'
      at += 1
    }
  }
  while (at < text.length) {
    const record = [cell()]
    while (text[at] === ',') {
      at += 1
      record.push(cell())
    }
    if (text.slice(at, at + 2) !== '\r\n') throw new SyntaxError(`A record does not end at ${at}.`)
    at += 2
    records.push(record)
  }
  return records
}

/**
 * Records of a file of the service, without the last column. Throws unless that column is empty but in the last
 * record, where it is the number of records below the head.
 */
export function readWholeCsv(text: string): readonly (readonly string[])[] {
  const records = readCsv(text)
  const [, ...marks] = records.map(record => record.at(-1))
  const wanted = marks.map((_, at) => (at === marks.length - 1 ? String(marks.length) : ''))
  if (marks.join('\n') !== wanted.join('\n')) throw new SyntaxError('The file does not say that it is complete.')
  return records.map(record => record.slice(0, -1))
}
