import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type BulkItem, cutRuns, judgeAnswer, rewriteSeenItem, toItem } from './bulk.ts'

const error = (type: string) => ({ type, reason: 'because' })
const conflict = { status: 409, error: error('version_conflict_engine_exception') }
type Fate = readonly [
  action: BulkItem['action'] | 'index seen',
  answer: Parameters<typeof judgeAnswer>[1],
  outcome: ReturnType<typeof judgeAnswer>,
]
const fates: readonly Fate[] = [
  ['create', { status: 201 }, 'done'],
  ['index', { status: 200 }, 'done'],
  ['delete', { status: 200 }, 'done'],
  // The document exists already: for `create` it must have the same content.
  ['create', conflict, 'exists'],
  ['index', conflict, 'done'],
  ['index seen', conflict, 'exists'],
  ['index seen', { status: 200 }, 'done'],
  ['delete', conflict, 'done'],
  ['delete', { status: 404 }, 'done'],
  ['delete', { status: 404, error: error('index_not_found_exception') }, 'wrong'],
  ['index', { status: 404, error: error('index_not_found_exception') }, 'wrong'],
  ['create', { status: 429, error: error('es_rejected_execution_exception') }, 'again'],
  ['create', { status: 503, error: error('unavailable_shards_exception') }, 'again'],
  ['index', { status: 502 }, 'again'],
  ['index', { status: 504 }, 'again'],
  // Full disk: 429 since 8.x, 403 before and for blocks set by hand.
  ['create', { status: 429, error: error('cluster_block_exception') }, 'blocked'],
  ['create', { status: 403, error: error('cluster_block_exception') }, 'blocked'],
  ['create', { status: 403, error: error('security_exception') }, 'wrong'],
  ['create', { status: 400, error: error('document_parsing_exception') }, 'wrong'],
  ['index', { status: 400, error: error('strict_dynamic_mapping_exception') }, 'wrong'],
  ['index', { status: 500, error: error('null_pointer_exception') }, 'wrong'],
]

test('an item: what becomes of it depends on its action and its answer', () => {
  for (const [action, answer, fate] of fates) {
    const item = action === 'index seen' ? ({ action: 'index', seen: true } as const) : { action }
    expect([action, answer, judgeAnswer(item, answer)]).toEqual([action, answer, fate])
  }
})

test('an item: its length is in bytes, with what was seen of the document', () => {
  expect(toItem('create', { index: 'i', id: 'é"' }, '{"a":1}').bytes).toBe(47)
  const item = toItem('create', { index: 'i', id: 'x' }, '{"a":1}')
  const lines = '{"index":{"_index":"i","_id":"x","if_seq_no":7,"if_primary_term":2}}\n{"a":1}\n'
  expect(rewriteSeenItem(item, { seqNo: 7, primaryTerm: 2 })).toMatchObject({ lines, bytes: 77 })
})

test('runs of items: order and every item are kept, the limit is exceeded only by a single item, and each run is filled', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20)), fc.integer({ min: 1, max: 30 }), (sizes, limit) => {
      const items = sizes.map((bytes, at) => ({ at, bytes }))
      const runs = [...cutRuns(items, limit)]
      expect(runs.flat()).toEqual(items)
      const lengths = runs.map(run => run.reduce((sum, { bytes }) => sum + bytes, 0))
      for (const [at, run] of runs.entries()) {
        expect(run.length === 1 || (lengths[at] ?? 0) <= limit).toBe(true)
        const next = runs[at + 1]?.[0]
        if (next !== undefined) expect((lengths[at] ?? 0) + next.bytes).toBeGreaterThan(limit)
      }
    }),
  )
})
