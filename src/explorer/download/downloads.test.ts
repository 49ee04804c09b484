import { expect, test } from 'bun:test'
import { Exact, RawJson } from '#chain/json.ts'
import { accountRecords, tokenMovements } from './downloads.ts'

const FORMULA = '=HYPERLINK("https://elsewhere.example","x")'

/** A row of an export: a movement by default, changed by `over`. */
const rowsWith = (data: readonly unknown[], over: object = {}) => ({
  rows: [
    {
      ...{ action_name: 'transfer', data: '', from: 'caller', to: 'token.iost' },
      ...{ amount: '1.5', token: data[0] },
      ...{ block: '7', tx_hash: 'hash', created_at: '2026-11-21T08:25:32.500Z', status_code: 'SUCCESS' },
      ...over,
    },
  ],
  data: [new RawJson(JSON.stringify(data))],
})

const asked = { id: 'alice', query: new URLSearchParams(), lang: 'en' } as const

test.each([
  [['iost', 'alice', 'bobby', '1.5', FORMULA], {}, ['Out', 'bobby', new Exact('-1.5'), 'iost', `'${FORMULA}`]],
  [['iost', 'bobby', 'alice', '1.5', '-1'], {}, ['In', 'bobby', new Exact('+1.5'), 'iost', "'-1"]],
  [['iost', 'alice', 'alice', '1.5', '@a'], {}, ['Self', 'alice', new Exact('0'), 'iost', "'@a"]],
  [['iost', 'bobby', 'carol', '1.5', '\tx'], {}, ['Others', 'bobby → carol', new Exact('0'), 'iost', "'\tx"]],
  [['usd', 'alice', '1.5'], { action_name: 'issue' }, ['In', '', new Exact('+1.5'), 'usd', '']],
  [['usd', 'alice', '1.5'], { action_name: 'destroy' }, ['Out', '', new Exact('-1.5'), 'usd', '']],
  [['usd', 'carol', '1.5'], { action_name: 'issue' }, ['Others', 'carol', new Exact('0'), 'usd', '']],
  [[FORMULA], { action_name: '+run', from: 'alice', to: '=c', amount: '1', token: undefined }, ['', "'=c", '', '', '']],
])('a row of an account’s file: %j %j', (data, over, cells) => {
  const [row = []] = accountRecords.table(asked).cellsOf(rowsWith(data, over), 0)
  expect(row.slice(0, 6)).toEqual(['2026-11-21 08:25:32.500', ...cells])
})

test('a row of a token’s file contains both sides, in the words of its language', () => {
  const { heads, cellsOf } = tokenMovements.table({ ...asked, lang: 'zh' })
  expect(heads.slice(0, 4)).toEqual(['时间（UTC）', '转出方', '转入方', '数量'])
  const [row = []] = cellsOf(rowsWith(['iost', 'bobby', 'carol', '1.5', ''], { status_code: '=OOPS' }), 0)
  expect(row.slice(1)).toEqual([
    ...['bobby', 'carol', new Exact('1.5'), 'iost', '', 'transfer', "'=OOPS", 'hash'],
    new Exact('7'),
  ])
})
