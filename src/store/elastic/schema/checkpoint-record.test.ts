import { expect, test } from 'bun:test'
import { parseCheckpoint, parsePublished } from './checkpoint.ts'

const END = { height: 3, hash: 'h', time: '1767225600000000000', lib: 8 }
const INVENTORY = {
  batch: 'b',
  indices: { 'x-blocks-000000': ['uuid', 4], 'x-meta-0': ['uuid'] },
  last: { 'x-blocks-000000': ['3', 1] },
}
const CHECKPOINT = {
  schema: 1,
  chainId: 1024,
  genesis: 'g',
  derivation: 7,
  owner: 'o',
  renewed: 1_767_225_600_000,
  write: 'w',
  partitions: [0, 2],
  generations: { blocks: 1 },
  retired: 2,
  filling: { partition: 1, documents: 5 },
  end: END,
  batch: 'b',
  from: 'a',
  floor: { height: 9, partition: 1 },
  epoch: 2,
  mending: true,
  inventory: INVENTORY,
}

const { end, batch, partitions, generations, epoch, mending, inventory } = CHECKPOINT
const PUBLISHED = { end, batch, partitions, generations, epoch, mending, inventory, edition: 'e' }

const ABSENT = Symbol('absent')

/** Values that a member with this one may not have. */
function createWrong(value: unknown): readonly unknown[] {
  const others = [null, true, [], {}]
  if (typeof value === 'number') return [...others, '1', -1, 0.5, 2 ** 53]
  if (typeof value === 'string') return [...others, 1]
  if (Array.isArray(value)) return [null, true, {}, 1, 'x', []]
  return value === true ? [null, 1, 'true', false, [], {}] : [null, true, [], 1, 'x']
}

/** Every member, by its path. */
const listMembers = (whole: object, path: readonly string[] = []): readonly (readonly [readonly string[], unknown])[] =>
  Object.entries(whole).flatMap(([name, value]) => {
    const own = [...path, name]
    const isObject = typeof value === 'object' && !Array.isArray(value)
    return [[own, value] as const, ...(isObject ? listMembers(value, own) : [])]
  })

/** More of them. */
const WRONG: readonly (readonly [path: string, values: readonly unknown[]])[] = [
  ['end.height', [1e12]],
  ['end.hash', ['']],
  ['genesis', ['']],
  ['write', ['']],
  ['floor.height', [1e12]],
  ['end.time', ['', '-1', 'x', '1e3', '9223372036854775808']],
  ['partitions', [[1], [0, 0], [0, 2, 1], [0, -1], [0, '2'], [0, 1e12]]],
  ['epoch', [2 ** 10]],
  ['inventory.last.x-blocks-000000', [[1, 1], ['u'], ['u', -1], ['u', '1']]],
  ['inventory.indices.x-meta-0', [[1], [null], ['u', -1], ['u', '1'], ['u', 1, 2]]],
]

function changed(whole: object, [name = '', ...rest]: readonly string[], value: unknown): object {
  const members = new Map(Object.entries(whole))
  if (rest.length > 0) members.set(name, changed(members.get(name) as object, rest, value))
  else if (value === ABSENT) members.delete(name)
  else members.set(name, value)
  return Object.fromEntries(members)
}
const source = (value: object) => ({ body: JSON.stringify(value) })

const OPTIONAL = ['retired', 'from', 'floor', 'epoch', 'mending', 'inventory']
/** Entries of maps by names. */
const ENTRY = /^(?:generations|inventory\.(?:indices|last))\./

test.each([
  { name: 'checkpoint', whole: CHECKPOINT, read: parseCheckpoint, optional: [...OPTIONAL, 'end'] },
  { name: 'published', whole: PUBLISHED, read: parsePublished, optional: OPTIONAL },
])(
  '$name: every member is checked, optional ones may be missing, and values that a loader does not write are refused',
  ({ whole, read, optional }) => {
    expect<unknown>(read(source(whole))).toEqual({ ...whole, end: { ...END, time: BigInt(END.time) } })
    const members = listMembers(whole)
    const wrong = members.flatMap(([path, value]) => createWrong(value).map(each => [path, each] as const))
    const own = WRONG.filter(([path]) => (path.split('.')[0] ?? '') in whole)
    const more = own.flatMap(([path, values]) => values.map(value => [path.split('.'), value] as const))
    for (const [path, value] of [...wrong, ...more])
      expect([path, value, read(source(changed(whole, path, value)))]).toEqual([path, value, undefined])
    for (const [path] of members) {
      const mayLack = optional.includes(path.join('.')) || ENTRY.test(path.join('.'))
      const isRead = read(source(changed(whole, path, ABSENT))) !== undefined
      expect([path, isRead]).toEqual([path, mayLack])
    }
    for (const body of [undefined, 1, '', '[]', '{"end":']) expect(read({ body })).toBeUndefined()
    for (const value of [undefined, null, 1, 'x', []]) expect(read(value)).toBeUndefined()
  },
)
