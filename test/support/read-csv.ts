/**
 * Records of a CSV text, parsed by the grammar of RFC 4180 alone and independently of the service. Throws on
 * invalid text.
 */
export const readCsv = (text: string): readonly (readonly string[])[] => {
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
