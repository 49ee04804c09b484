import { describe, expect, test } from 'bun:test'
import { absent, refuseBeyondLoaded } from '#actions/find/loading.ts'
import type { Failure } from '#failure/failure.ts'
import type { View } from '#store/port.ts'
import { spokenNode } from '#test/support/nodes/spoken-node.ts'

const what = { en: "Account 'x'", zh: "账户 'x'" }
const at = (height: number, lib: number) => ({ at: { height, hash: '', time: 0n, lib } }) as View
function say(height: number, lib: number, nodeLib?: number) {
  const node = nodeLib === undefined ? undefined : spokenNode({}, { libBlock: nodeLib })
  const { kind, message, zh } = absent({ view: at(height, lib), node }, what)
  return { kind, message, zh }
}
const notFound = (height: number) => ({
  kind: 'not_found',
  message: `Account 'x' does not exist at block ${height}.`,
  zh: `账户 'x' 不存在（截至区块 ${height}）。`,
})
const loading = (height: number, last: number) => ({
  kind: 'loading',
  message: `Account 'x' is not available yet: loaded up to block ${height} of ${last}.`,
  zh: `账户 'x' 暂不可用：目前已加载到区块 ${height}，最新的不可逆区块为 ${last}。`,
})

describe('absent', () => {
  test('absent: a missing thing is not found up to a thousand blocks behind, and not loaded yet beyond', () => {
    expect(say(5000, 6000)).toEqual(notFound(5000) as never)
    expect(say(5000, 6001)).toEqual(loading(5000, 6001) as never)
    expect(say(0, 0)).toEqual(notFound(0) as never)
  })
  test('absent: the larger last irreversible block of the store and the followed node counts', () => {
    expect(say(5000, 5000, 9000)).toEqual(loading(5000, 9000) as never)
    expect(say(5000, 9000, 5000)).toEqual(loading(5000, 9000) as never)
  })
})

describe('refuseBeyondLoaded', () => {
  const view = (height: number, lib: number) => ({ at: { height, hash: '', time: 50n, lib } }) as View
  const refusal = (range: Parameters<typeof refuseBeyondLoaded>[1], lib = 6001, node?: number) => {
    try {
      refuseBeyondLoaded(
        { view: view(5000, lib), node: node === undefined ? undefined : spokenNode({}, { libBlock: node }) },
        range,
        20,
      )
    } catch (error) {
      const { kind, message } = error as Failure
      return `${kind}: ${message}`
    }
    return undefined
  }
  const told = (what: string, last = 6001) =>
    `loading: The data for ${what} is not available yet: loaded up to block 5000 of ${last}.`

  test('refuses a bound of any kind beyond the loaded blocks', () => {
    expect(refusal({ start_block: 5001n })).toBe(told("'start_block' 5001"))
    expect(refusal({ start_block: 1n, end_block: 5001n })).toBe(told("'end_block' 5001"))
    expect(refusal({ start_time: 51n })).toBe(told("'start_time' 1970-01-01T00:00:00.000000051Z"))
    expect(refusal({ start_time: 1n, end_time: 51n }, 5000, 9000)).toBe(
      told("'end_time' 1970-01-01T00:00:00.000000051Z", 9000),
    )
    expect(refusal({ end_seq: 21n })).toBe(told("'end_seq' 21"))
    expect(refusal({ start_seq: 22n })).toBe(told("'start_seq' 22"))
  })
  test('accepts bounds within the loaded blocks, and any bound when the load is not far behind', () => {
    expect(refusal({})).toBeUndefined()
    expect(refusal({ start_block: 5000n, end_block: 5000n, start_time: 50n, end_time: 50n })).toBeUndefined()
    expect(refusal({ start_seq: 20n, end_seq: 20n })).toBeUndefined()
    expect(refusal({ start_block: 5001n, end_time: 51n, end_seq: 21n }, 6000)).toBeUndefined()
    expect(refusal({ start_block: 5001n }, 5000, 6000)).toBeUndefined()
  })
  test('accepts a start right after the last row, which is how clients follow a list', () => {
    expect(refusal({ start_seq: 21n })).toBeUndefined()
  })
})
