import { beforeAll, expect, test } from 'bun:test'
import { type ApiAction, formatActionName } from '#actions/define.ts'
import { actions } from '#actions/registry.ts'
import { listParameters } from '#actions/request/query.ts'
import { formatUnits } from '#chain/amount.ts'
import { downloads } from '#explorer/download/downloads.ts'
import { pages } from '#explorer/pages.ts'
import type { Store } from '#store/port.ts'
import { feedEvents } from '#test/support/processes/feed-client.ts'
import { readWholeCsv } from '#test/support/read-csv.ts'
import { type Explorer, explorerOn, HTML } from '../explorer/served.ts'
import { inflationsUntil, inflationTx } from './content.ts'
import { chain, hashes } from './lists.ts'
import { FOUNDATION } from './names.ts'
import { truthAt } from './truth.ts'

/** Receivers of what base transactions issue, inflation and rewards. */
export const RECEIVERS = [FOUNDATION, 'bonus.iost', 'issue.iost', 'vote_producer.iost', '0', 'producer000']
const { world, settings } = chain
const height = settings.inflation
const hashAt = (block: number): string => hashes[block]?.[0] ?? ''

const tokenOf = (account: string): string => (/^producer|^0$/.test(account) ? 'contribute' : 'iost')

/** Queries of an action about an account, with every parameter that names a thing and, if it has one, with `step`. */
function queriesOf(action: ApiAction, account: string): readonly string[] {
  const values: Readonly<Record<string, string>> = {
    ...{ account, accounts: account, producer: account, contract: account },
    ...{ transaction: hashAt(height), transactions: hashAt(height), block: String(height) },
    ...{ function: 'token.iost/issue', action: 'issue' },
    token: tokenOf(account),
  }
  const known = listParameters(action.params)
  const given = known.flatMap(({ name, required, spec }) => {
    const text = values[spec.sample ?? ''] ?? action.example[name]
    const isWanted = required || action.example[name] !== undefined
    return isWanted && text !== undefined && name !== 'page' && name !== 'size' ? [[name, text] as const] : []
  })
  const query = String(new URLSearchParams(Object.fromEntries(given)))
  return known.some(({ name }) => name === 'step') ? [query, `${query}&step=day`] : [query]
}

/** Queries of an action about each of the accounts. One that names no account is the same for all. */
const queriesAbout = (action: ApiAction, accounts: readonly string[]): readonly string[] => [
  ...new Set(accounts.flatMap(account => queriesOf(action, account))),
]

const askWithKey = ({ ask, key }: Explorer, path: string, accept = '*/*'): Promise<Response> =>
  ask(path, { headers: { 'x-api-key': key, accept } })

/** Every action, page, file and feed about these receivers of inflation and block rewards, on one store. */
export function receiverSuite(store: () => Store, receivers: readonly string[]): void {
  let own: Explorer
  beforeAll(async () => {
    own = await explorerOn({ isKeyless: true }, store())
  })
  const ask = (path: string, accept?: string): Promise<Response> => askWithKey(own, path, accept)
  /** The text of an answer, undefined: not every receiver is an account, a contract or a producer. */
  const askKnown = async (path: string, accept?: string): Promise<string | undefined> => {
    const response = await ask(path, accept)
    const text = await response.text()
    if (response.status === 200) return text
    // The service has no node.
    if (response.status >= 500 && !text.includes('node')) throw new Error(`${path}: ${response.status} ${text}`)
    return undefined
  }

  test('every action answers about the receivers in every format', async () => {
    let answered = 0
    for (const action of actions)
      for (const query of queriesAbout(action, receivers))
        for (const format of action.list === undefined ? ['bare'] : ['bare', 'ndjson', 'csv']) {
          const path = `/api/${action.module}/${action.action}?${query}&format=${format}`
          const text = await askKnown(path)
          if (text === undefined) continue
          if (format === 'ndjson')
            expect([path, text.split('\n').at(-2)?.slice(0, 16)]).toEqual([path, '{"complete":true'])
          answered += 1
        }
    expect(answered).toBeGreaterThan(50 + 30 * receivers.length)
  })

  test('every feed about the receivers begins with the rows of the export', async () => {
    const compared = new Set<string>()
    const asked = actions.flatMap(action =>
      action.source?.isFeed ? queriesAbout(action, receivers).map(query => ({ action, query })) : [],
    )
    for (const { action, query } of asked.filter(each => !each.query.includes('step='))) {
      const path = `/api/${action.module}/${action.action}?${query}`
      const whole = await (await ask(`${path}&sort=asc&format=ndjson`)).text()
      const wanted = whole.split('\n').filter(row => row.startsWith('{"seq"'))
      wanted.splice(50)
      if (wanted.length === 0) continue
      const response = await ask(`${path}&start_seq=1&format=sse`)
      expect([path, response.status]).toEqual([path, 200])
      const told: string[] = []
      for await (const { event, data } of feedEvents(response.body)) {
        if (event === 'end') throw new Error(`${path}: ${data}`)
        if (data.startsWith('{"seq"')) told.push(data)
        if (told.length >= wanted.length) break
      }
      expect([formatActionName(action), told]).toEqual([formatActionName(action), wanted])
      for (const account of receivers) if (query.includes(`=${account}`)) compared.add(account)
    }
    expect([...compared].sort()).toEqual(receivers.toSorted())
  })

  test.each(receivers)('the pages and files of %s are there', async account => {
    const ids = new Map([
      ['tx', hashAt(height)],
      ['block', String(height)],
      ['token', tokenOf(account)],
    ])
    let shown = 0
    for (const { path } of [...pages, ...downloads].filter(each => each.path.includes('{id}'))) {
      const [, kind = ''] = path.split('/')
      const named = path.replace('{id}', ids.get(kind) ?? account).replace('{part}', tokenOf(account))
      for (const page of [named, `/zh${named}`]) shown += (await askKnown(page, HTML)) === undefined ? 0 : 1
    }
    expect(shown).toBeGreaterThan(3)
  })
}

/** What base transactions changed, as the store has it. */
export function inflationSuite(store: () => Store, end = settings.blocks): void {
  let own: Explorer
  beforeAll(async () => {
    own = await explorerOn({ isKeyless: true }, store())
  })

  test('changes by base transactions have their hashes, in rows, steps and both books', async () => {
    const truth = truthAt(world, end)
    const times = inflationsUntil(world, end)
    expect(times).toBeGreaterThan(0)
    for (const account of [FOUNDATION, 'bonus.iost', '0', 'producer000']) {
      const token = tokenOf(account)
      const query = `/api/account/get-balance-history?account=${account}&token=${token}&sort=asc`
      type Row = { block: number; tx_hash: string | null; action: string; change: string; balance: string }
      const lines = (await (await askWithKey(own, `${query}&format=ndjson&numbers=string`)).text())
        .split('\n')
        .slice(0, -2)
      const rows = lines.map(line => JSON.parse(line) as Row)
      const paid = rows.filter(({ action, block }) =>
        token === 'iost' ? action === 'issue' && block > 0 : action === 'contribute',
      )
      expect(paid.map(({ block, tx_hash }) => [block, tx_hash])).toEqual(
        paid.map(({ block }) => [block, hashAt(block)]),
      )
      if (token === 'iost') {
        const effect = inflationTx().effects[0]
        const amount = formatUnits(effect?.kind === 'move' ? BigInt(effect.units) : 0n, 8)
        expect(paid.map(({ change }) => change)).toEqual(Array.from({ length: times }, () => amount))
      } else expect(paid.length).toBeGreaterThan(account === '0' ? 0 : 50)
      expect(rows.at(-1)?.balance).toBe(formatUnits(truth.balance(token, account), 8))
      for (const csv of ['koinly', 'ledger']) {
        const table = readWholeCsv(await (await askWithKey(own, `${query}&format=csv&csv=${csv}`)).text()).slice(1)
        expect([csv, table.map(row => row.at(-1))]).toEqual([csv, rows.map(({ tx_hash }) => tx_hash ?? '')])
      }
    }
  })
}
