import { expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  type BulkItem,
  cutRuns,
  deleteSeenItem,
  judgeAnswer,
  rewriteSeenItem,
  toItem,
  toVersionedItem,
} from './bulk.ts'

const error = (type: string) => ({ type, reason: 'because' })
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
  ['create', { status: 409, error: error('version_conflict_engine_exception') }, 'exists'],
  ['index', { status: 409, error: error('version_conflict_engine_exception') }, 'done'],
  ['index seen', { status: 409, error: error('version_conflict_engine_exception') }, 'exists'],
  ['index seen', { status: 200 }, 'done'],
  ['delete', { status: 409, error: error('version_conflict_engine_exception') }, 'done'],
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

for (const [action, answer, fate] of fates)
  test(`an item: ${action} answered ${answer.status} ${answer.error?.type ?? ''} is ${fate}`, () => {
    const item = action === 'index seen' ? ({ action: 'index', seen: true } as const) : { action }
    expect(judgeAnswer(item, answer)).toBe(fate)
  })

test('an item: each item is the lines of Elasticsearch’s format, with their length in bytes', () => {
  expect(toItem('create', { index: 'i', id: 'é"' }, '{"a":1}')).toEqual({
    action: 'create',
    index: 'i',
    id: 'é"',
    source: '{"a":1}',
    lines: '{"create":{"_index":"i","_id":"é\\""}}\n{"a":1}\n',
    bytes: 47,
  })
  expect(toVersionedItem({ index: 'i', id: 'x' }, 1, '{}').lines).toBe(
    '{"index":{"_index":"i","_id":"x","version":1,"version_type":"external_gte"}}\n{}\n',
  )
  expect(rewriteSeenItem(toItem('create', { index: 'i', id: 'x' }, '{"a":1}'), { seqNo: 7, primaryTerm: 2 })).toEqual({
    action: 'index',
    index: 'i',
    id: 'x',
    source: '{"a":1}',
    seen: true,
    lines: '{"index":{"_index":"i","_id":"x","if_seq_no":7,"if_primary_term":2}}\n{"a":1}\n',
    bytes: 77,
  })
  expect(deleteSeenItem({ index: 'i', id: 'x' }, { seqNo: 7, primaryTerm: 2 }).lines).toBe(
    '{"delete":{"_index":"i","_id":"x","if_seq_no":7,"if_primary_term":2}}\n',
  )
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
