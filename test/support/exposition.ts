export type Sample = {
  readonly name: string
  readonly labels: ReadonlyMap<string, string>
  readonly value: number
}

type Labels = Readonly<Record<string, string>>

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/y

function labelsIn(text: string): ReadonlyMap<string, string> {
  const labels = new Map<string, string>()
  LABEL.lastIndex = 0
  while (LABEL.lastIndex < text.length) {
    const [, name = '', value = ''] = LABEL.exec(text) ?? []
    if (name === '' || labels.has(name)) throw new Error(`Labels ${text} cannot be read.`)
    labels.set(name, value)
  }
  return labels
}

function valueIn(text: string): number {
  if (!/^(?:[+-]?Inf|NaN|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/.test(text)) throw new Error(`Value ${text} is no number.`)
  return text === '+Inf' ? Number.POSITIVE_INFINITY : Number(text)
}

/** Parses the format strictly: order, escapes, types, one line for each series. Throws on anything else. */
export function readExposition(text: string) {
  if (!text.endsWith('\n')) throw new Error('The last line is not ended.')
  const types = new Map<string, string>()
  const helped = new Set<string>()
  const samples: Sample[] = []
  const seen = new Set<string>()
  let current = ''
  for (const line of text.split('\n')) {
    if (line === '') continue
    const [, comment, named = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? []
    if (comment !== undefined) {
      if (!NAME.test(named) || rest === '') throw new Error(`Line ${line} cannot be read.`)
      if (comment === 'HELP') {
        if (helped.has(named)) throw new Error(`${named} is described twice.`)
        helped.add(named)
      } else {
        if (types.has(named) || !helped.has(named)) throw new Error(`${named} has its type at the wrong place.`)
        types.set(named, rest)
      }
      current = named
      continue
    }
    const [, name = '', inner = '', value = ''] = LINE.exec(line) ?? []
    const suffixes = types.get(current) === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
    if (!suffixes.some(suffix => name === `${current}${suffix}`))
      throw new Error(`Line ${line} does not belong to ${current}.`)
    const labels = labelsIn(inner)
    const series = `${name} ${[...labels].map(pair => pair.join('=')).sort()}`
    if (seen.has(series)) throw new Error(`Series ${series} is there twice.`)
    seen.add(series)
    samples.push({ name, labels, value: valueIn(value) })
  }
  const matching = (name: string, labels: Labels) =>
    samples.filter(
      sample =>
        sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels.get(label) === value),
    )
  return {
    types: types as ReadonlyMap<string, string>,
    samples: samples as readonly Sample[],
    /** The sum of the samples with that name and those labels. */
    sum: (name: string, labels: Labels = {}) => matching(name, labels).reduce((sum, { value }) => sum + value, 0),
    /** The only sample with that name and those labels. undefined: there is none. */
    value: (name: string, labels: Labels = {}): number | undefined => {
      const [found, ...others] = matching(name, labels)
      if (others.length > 0) throw new Error(`There are ${others.length + 1} samples of ${name}.`)
      return found?.value
    },
  }
}
