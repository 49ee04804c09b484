/** A difference between the stored and the expected data. */
export type Finding = {
  /** Name of the index, or `published`. */
  readonly index: string
  readonly id: string
  /** Field, `row N` of a list, or `document` when all of it is missing or superfluous. */
  readonly field: string
  readonly stored: string
  readonly expected: string
  /** Source of the expected value: the replay of the stored blocks, or the node. */
  readonly by: 'replay' | 'node'
}

/** The findings: a bounded number of each kind, and the counts of all. */
export type Findings = {
  add(finding: Finding): void
  /** The first findings of each kind, in the order found. */
  readonly shown: readonly Finding[]
  /** Number of findings by `index field`. */
  readonly totals: ReadonlyMap<string, number>
  readonly count: number
  /** Number of findings that a replay cannot correct, because only the node has the values. */
  readonly beyondRepair: number
}

/** Findings shown of each kind; further ones are only counted. */
const SHOWN = 20
/** Maximum number of characters shown of a value. */
const LETTERS = 160

export function findings(shownOfKind = SHOWN): Findings {
  const shown: Finding[] = []
  const totals = new Map<string, number>()
  let count = 0
  let beyondRepair = 0
  return {
    add: finding => {
      const kind = formatFindingKind(finding)
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

/** The kind of a finding. Rows of all lists are one kind. */
const formatFindingKind = ({ index, field }: Finding): string => `${index} ${field.replace(/^row \d+$/, 'row')}`

/** `index id field: stored … expected …`. */
export const findingText = ({ index, id, field, stored, expected, by }: Finding): string =>
  `${index} ${id} ${field}: stored ${cut(stored)} expected ${cut(expected)}${by === 'node' ? ' (node)' : ''}`

const cut = (text: string): string =>
  text.length <= LETTERS ? text : `${text.slice(0, LETTERS)}… (${text.length} characters)`

export const ABSENT = 'nothing'
export const PRESENT = 'a document'
