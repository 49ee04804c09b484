import { expect, setDefaultTimeout, test } from 'bun:test'
import { oracle } from '#test/support/nodes/recording.ts'
import { explorerOn } from './served.ts'

setDefaultTimeout(600_000)

const WORDS = [
  ['Waiting for approval', '等待批准'],
  undefined,
  ['Asked to leave', '已申请退出'],
  ['Removed by the administrators', '已由管理员移除'],
] as const

/** The words for a row of the contract's table of producers: English, Chinese. */
const wordsOf = (row: ReadonlyMap<string, unknown>): readonly [string, string] =>
  WORDS[Number(row.get('status'))] ??
  (row.get('isProducer') !== true
    ? ['Not a candidate', '非候选人']
    : row.get('online') === true
      ? ['Online', '在线']
      : ['Offline', '离线'])

const badgeIn = (html: string): string | undefined => /<span class="badge[^"]*">([^<]*)</.exec(html)?.[1]

test("/producer and /producers: say the contract's own status of every producer, and count the approved ones", async () => {
  const explorer = await explorerOn()
  const { producers } = await oracle()
  const approved = [...producers.values()].filter(row => Number(row.get('status')) === 1).length
  expect(new Set([...producers.values()].map(row => Number(row.get('status'))))).toEqual(new Set([0, 1, 2, 3]))
  for (const [lang, prefix] of ['', '/zh'].entries()) {
    const list = (await explorer.visit(`${prefix}/producers`)).html
    expect(list).toMatch(new RegExp(`${['Registered', '已注册'][lang]}</dt>\\s*<dd>[^0-9]*${approved}\\b`))
    for (const [account, row] of producers) {
      const word = wordsOf(row as never)[lang]
      expect([account, badgeIn((await explorer.visit(`${prefix}/producer/${account}`)).html)]).toEqual([account, word])
      const line = list.split('<tr').find(each => each.includes(`producer/${account}"`)) ?? ''
      expect([account, badgeIn(line)]).toEqual([account, word])
    }
  }
})
