import { describe, expect, test } from 'bun:test'
import type { View } from '#store/port.ts'
import { spokenNode } from '#test/spoken-node.ts'
import { absent } from './loading.ts'

const what = { en: "Account 'x'", zh: "账户 'x'" }
const at = (height: number, lib: number) => ({ at: { height, hash: '', time: 0n, lib } }) as View
const say = (height: number, lib: number, nodeLib?: number) => {
  const node = nodeLib === undefined ? undefined : spokenNode({}, { libBlock: nodeLib })
  const { kind, message, zh } = absent({ view: at(height, lib), node }, what)
  return { kind, message, zh }
}
const notFound = (height: number) => ({
  kind: 'not_found',
  message: `Account 'x' is not known at block ${height}.`,
  zh: `账户 'x' 在区块 ${height} 处不存在。`,
})
const loading = (height: number, last: number) => ({
  kind: 'loading',
  message: `Account 'x' is not known yet: loaded up to block ${height} of ${last}.`,
  zh: `账户 'x' 暂未找到：已加载到区块 ${height}，共 ${last}。`,
})

describe('absent', () => {
  test('absent: not found up to a thousand blocks behind, loading beyond', () => {
    expect(say(5000, 6000)).toEqual(notFound(5000) as never)
    expect(say(5000, 6001)).toEqual(loading(5000, 6001) as never)
    expect(say(0, 0)).toEqual(notFound(0) as never)
  })
  test('absent: the larger of the stored and the followed node last irreversible block counts', () => {
    expect(say(5000, 5000, 9000)).toEqual(loading(5000, 9000) as never)
    expect(say(5000, 9000, 5000)).toEqual(loading(5000, 9000) as never)
  })
})
