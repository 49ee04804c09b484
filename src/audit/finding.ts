/** One thing that is not as it should be. */
export type Finding = {
  /** Index, or `published`. */
  readonly index: string
  readonly id: string
  /** Field, `row N` of a list, or `document` when all of it is missing or too much. */
  readonly field: string
  readonly stored: string
  readonly expected: string
  /** The source of what is expected: the replay of what is stored, or the node. */
  readonly by: 'replay' | 'node'
}

/** All findings: a bounded number of each kind, and how many there are. */
export type Findings = {
  add(finding: Finding): void
  /** The first ones of each kind, in the order found. */
  readonly shown: readonly Finding[]
  /** `index field` → how many. */
  readonly totals: ReadonlyMap<string, number>
  readonly count: number
  /** How many of them a replay cannot correct: only the node has these values. */
  readonly beyondRepair: number
}

/** Further ones of a kind are only counted. */
const SHOWN = 20
/** Letters of a value. */
const LETTERS = 160

export const findings = (shownOfKind = SHOWN): Findings => {
  const shown: Finding[] = []
  const totals = new Map<string, number>()
  let count = 0
  let beyondRepair = 0
  return {
    add: finding => {
      const kind = kindOf(finding)
      const before = totals.get(kind) ?? 0
      totals.set(kind, before + 1)
      count += 1
      if (finding.by === 'node') beyondRepair += 1
      if (before < shownOfKind) shown.push(finding)
    },
    shown,
    totals,
    get count() {
      return count
    },
    get beyondRepair() {
      return beyondRepair
    },
  }
}

/** Rows of all lists are one kind. */
const kindOf = ({ index, field }: Finding): string => `${index} ${field.replace(/^row \d+$/, 'row')}`

/** `index id field: stored … expected …`. */
export const findingText = ({ index, id, field, stored, expected, by }: Finding): string =>
  `${index} ${id} ${field}: stored ${cut(stored)} expected ${cut(expected)}${by === 'node' ? ' (node)' : ''}`

const cut = (text: string): string =>
  text.length <= LETTERS ? text : `${text.slice(0, LETTERS)}… (${text.length} characters)`

export const ABSENT = 'nothing'
export const PRESENT = 'a document'
