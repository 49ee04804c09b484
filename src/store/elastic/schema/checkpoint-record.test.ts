import { expect, test } from 'bun:test'
import { parseCheckpoint, parsePublished } from './checkpoint.ts'

const END = { height: 3, hash: 'h', time: '1767225600000000000', lib: 8 }
const INVENTORY = {
  batch: 'b',
  indices: { 'x-blocks-000000': ['uuid', 4], 'x-meta-0': ['uuid'] },
  last: { 'x-blocks-000000': ['3', 1] },
}
const PUBLISHED = {
  end: END,
  batch: 'b',
  partitions: [0, 2],
  generations: { blocks: 1 },
  epoch: 2,
  mending: true,
  inventory: INVENTORY,
  edition: 'e',
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

const ABSENT = Symbol('absent')
const NO_TEXT = [null, 1, true, [], {}]
const NO_COUNT = [null, '1', true, -1, 0.5, 2 ** 53, [], {}]
const NO_OBJECT = [null, 1, 'x', true, []]

type Wrong = readonly (readonly [path: string, values: readonly unknown[]])[]

/** Invalid values, by member; `ABSENT` means that the member is required. */
const both: Wrong = [
  ['end', NO_OBJECT],
  ['end.height', [...NO_COUNT, 1e12, ABSENT]],
  ['end.hash', [...NO_TEXT, '', ABSENT]],
  ['end.time', [...NO_TEXT, '', '-1', 'x', '1e3', '9223372036854775808', ABSENT]],
  ['end.lib', [...NO_COUNT, ABSENT]],
  ['batch', [...NO_TEXT, ABSENT]],
  ['partitions', [...NO_OBJECT, {}, [1], [0, 0], [0, 2, 1], [0, -1], [0, '2'], [0, 1e12], ABSENT]],
  ['generations', [...NO_OBJECT, ABSENT]],
  ['generations.blocks', NO_COUNT],
  ['epoch', [...NO_COUNT, 2 ** 10]],
  ['mending', [null, 1, 'true', false, [], {}]],
  ['inventory', NO_OBJECT],
  ['inventory.batch', [...NO_TEXT, ABSENT]],
  ['inventory.indices', [...NO_OBJECT, ABSENT]],
  ['inventory.last', [...NO_OBJECT, ABSENT]],
  ['inventory.last.x-blocks-000000', [...NO_OBJECT, {}, [1, 1], ['u'], ['u', -1], ['u', '1']]],
  ['inventory.indices.x-meta-0', [...NO_OBJECT, {}, [1], [null], ['u', -1], ['u', '1'], ['u', 1, 2]]],
]

const published: Wrong = [...both, ['end', [ABSENT]], ['edition', [...NO_TEXT, ABSENT]]]

const checkpoint: Wrong = [
  ...both,
  ...['schema', 'chainId', 'derivation', 'renewed'].map(name => [name, [...NO_COUNT, ABSENT]] as const),
  ...['genesis', 'write'].map(name => [name, [...NO_TEXT, '', ABSENT]] as const),
  ['owner', [...NO_TEXT, ABSENT]],
  ['from', NO_TEXT],
  ['floor', NO_OBJECT],
  ['floor.height', [...NO_COUNT, 1e12, ABSENT]],
  ['floor.partition', [...NO_COUNT, ABSENT]],
  ['retired', NO_COUNT],
  ['filling', [...NO_OBJECT, ABSENT]],
  ['filling.partition', [...NO_COUNT, ABSENT]],
  ['filling.documents', [...NO_COUNT, ABSENT]],
]

function changed(whole: object, [name = '', ...rest]: readonly string[], value: unknown): object {
  const members = new Map(Object.entries(whole))
  if (rest.length > 0) members.set(name, changed(members.get(name) as object, rest, value))
  else if (value === ABSENT) members.delete(name)
  else members.set(name, value)
  return Object.fromEntries(members)
}
const source = (value: object) => ({ body: JSON.stringify(value) })

test.each([
  { name: 'checkpoint', whole: CHECKPOINT, wrong: checkpoint, read: parseCheckpoint },
  { name: 'published', whole: PUBLISHED, wrong: published, read: parsePublished },
] as const)(
  '$name: every member is checked, and values that a loader does not write are refused',
  ({ whole, wrong, read }) => {
    expect(read(source(whole))).toEqual({ ...whole, end: { ...END, time: BigInt(END.time) } } as never)
    for (const [path, values] of wrong)
      for (const value of values) {
        const given = changed(whole, path.split('.'), value)
        expect([path, value, read(source(given))]).toEqual([path, value, undefined])
      }
    // The table covers every member.
    const named = new Set(wrong.map(([path]) => path.split('.')[0]))
    expect(Object.keys(whole).filter(name => !named.has(name))).toEqual([])
  },
)

test.each([
  {
    name: 'checkpoint',
    whole: CHECKPOINT,
    optional: ['retired', 'end', 'from', 'floor', 'epoch', 'mending', 'inventory'],
    read: parseCheckpoint,
  },
  {
    name: 'published',
    whole: PUBLISHED,
    optional: ['epoch', 'mending', 'inventory'],
    read: parsePublished,
  },
] as const)('$name: optional members may be missing', ({ whole, optional, read }) => {
  for (const name of optional)
    expect([name, read(source(changed(whole, [name], ABSENT)))]).not.toEqual([name, undefined])
})

test('a document of neither kind is refused', () => {
  const others = [undefined, null, 1, 'x', [], {}, { body: 1 }, { body: '' }, { body: '[]' }, { body: '{"end":' }]
  for (const value of others) {
    expect(parseCheckpoint(value)).toBeUndefined()
    expect(parsePublished(value)).toBeUndefined()
  }
})
