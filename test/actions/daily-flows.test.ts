import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { formatUnits } from '#chain/amount.ts'
import type { LoadedBlock } from '#chain/block.ts'
import { generatedBlocks } from '#test/generator/generated-blocks.ts'
import { recordedBlocks } from '#test/support/nodes/recording.ts'
import { spreadDays } from '#test/support/nodes/spread-days.ts'
import { plainCounterparties, plainDate, plainFlows, plainTokenDays } from '#test/support/oracle/plain-flows.ts'
import { plainHeld, plainPast } from '#test/support/oracle/plain-past.ts'
import { serviceOn } from '#test/support/processes/service.ts'
import { ask } from '#test/support/stores/ask.ts'
import { commitRuns } from '#test/support/stores/commit-runs.ts'
import { temporarySqlite } from '#test/support/stores/loading.ts'

// Awaited here and not in a test: reading a chain takes longer than the time limit of a test. So many recorded blocks
// have more than 10,000 movements of one account, which is the limit of counterparties.
const chains = {
  recorded: spreadDays((await recordedBlocks()).slice(0, 3_550)),
  generated: spreadDays(await generatedBlocks(600)),
}
/** Accounts whose days are compared in each chain, beside some special ones. */
const ACCOUNTS = 60

const runsOf = (blocks: readonly LoadedBlock[], length: number): readonly (readonly LoadedBlock[])[] =>
  Array.from({ length: Math.ceil(blocks.length / length) }, (_, at) => blocks.slice(at * length, (at + 1) * length))

for (const [chain, loaded] of Object.entries(chains))
  describe(`days of the ${chain} chain`, () => {
    const blocks = loaded.map(({ block }) => block)
    const past = plainPast(blocks)
    const dates = [...new Set(blocks.slice(1).map(({ time }) => plainDate(time)))].sort()
    const [start_date = '', end_date = ''] = [dates[0], dates.at(-1)]
    const everyDate: string[] = []
    for (let day = Date.parse(start_date); day <= Date.parse(end_date); day += 86_400_000)
      everyDate.push(new Date(day).toISOString().slice(0, 10))
    const ids = [...past.changes.keys()]
    const tokens = [...new Set(ids.map(id => id.slice(0, id.indexOf('/'))))]
    const decimals = new Map<string, number>()
    let opened: Awaited<ReturnType<typeof temporarySqlite>>
    const asked = (params: Readonly<Record<string, string>>) =>
      ask('get-daily-statistics', { start_date, end_date, ...params }, { deps: { store: opened.store } })
    const shown = (token: string, units: bigint): string => formatUnits(units, decimals.get(token) ?? 0)

    beforeAll(async () => {
      opened = await temporarySqlite()
      // Some runs span several days, and some days span several runs.
      await commitRuns(opened.store, runsOf(loaded, 97), { lib: loaded.length - 1 })
      const { tokens: all } = await ask('get-base-token-list', { size: '500' }, { deps: { store: opened.store } })
      for (const { symbol, decimal } of all) decimals.set(symbol, decimal)
    })
    afterAll(() => opened.destroy())

    test('token: transfers, volume, issued, destroyed, supply and holders of each day match a replay', async () => {
      const plain = plainTokenDays(blocks)
      expect(everyDate.length).toBeGreaterThan(dates.length)
      const dateOf = blocks.map(({ time }) => plainDate(time))
      const ends = everyDate.map(date => dateOf.findLastIndex(each => each <= date))
      let busy = 0
      for (const token of tokens) {
        const { days } = await asked({ token })
        expect(days.map(({ date }: { date: string }) => date)).toEqual(everyDate)
        const own = ids.filter(id => id.startsWith(`${token}/`))
        let supply = [...plain].reduce(
          (sum, [id, { issued, destroyed }]) =>
            id.startsWith(`${token}/`) && id.slice(token.length + 1) < start_date ? sum + issued - destroyed : sum,
          0n,
        )
        for (const [at, day] of days.entries()) {
          const so = plain.get(`${token}/${day.date}`)
          supply += (so?.issued ?? 0n) - (so?.destroyed ?? 0n)
          const height = ends[at] ?? -1
          const isLooked = at % 9 === 0 || at === days.length - 1
          busy += so?.transfers ?? 0
          expect([token, day]).toEqual([
            token,
            {
              date: everyDate[at],
              complete: day.date !== end_date,
              transfers: so?.transfers ?? 0,
              volume: formatUnits(so?.volume ?? 0n, 18),
              issued: formatUnits(so?.issued ?? 0n, 18),
              destroyed: formatUnits(so?.destroyed ?? 0n, 18),
              supply: formatUnits(supply, 18),
              holders: isLooked ? own.filter(id => plainHeld(past, id, height).available > 0n).length : day.holders,
            },
          ])
        }
      }
      expect(busy).toBeGreaterThan(500)
    })

    test('account: received and sent amounts, their counts and the counterparties of each day match a replay', async () => {
      const others = plainCounterparties(blocks)
      const step = Math.max(1, Math.floor(ids.length / ACCOUNTS))
      const looked = ids.filter((id, at) => at % step === 0 || /\/(?:gas\.iost|admin|busyhub|__proto__|0)$/.test(id))
      let met = 0
      for (const id of looked) {
        const slash = id.indexOf('/')
        const [token, account] = [id.slice(0, slash), id.slice(slash + 1)]
        const flows = plainFlows(past, id)
        const { days } = await asked({ account, ...(token === 'iost' ? {} : { token }) })
        expect(days.length).toBe(everyDate.length)
        const isMany = chain === 'recorded' && id === 'iost/busyhub'
        for (const day of days) {
          const so = flows.get(day.date)
          const count = others.get(`${id}/${day.date}`)?.size ?? 0
          met += count
          expect([id, day]).toEqual([
            id,
            {
              date: day.date,
              complete: day.date !== end_date,
              in: shown(token, so?.in ?? 0n),
              out: shown(token, so?.out ?? 0n),
              movements_in: so?.movements_in ?? 0,
              movements_out: so?.movements_out ?? 0,
              ...(isMany ? { counterparties: null, reason: 'too_many' } : { counterparties: count }),
            },
          ])
        }
      }
      expect(met).toBeGreaterThan(300)
    })

    test('account: a shorter range reports all counterparties of an account that deals with thousands', async () => {
      const others = plainCounterparties(blocks)
      const busy = chain === 'recorded' ? 'busyhub' : 'gas.iost'
      for (const date of everyDate.filter((_date, at) => at % 8 === 1)) {
        const { days } = await asked({ account: busy, start_date: date, end_date: date })
        const count = others.get(`iost/${busy}/${date}`)?.size ?? 0
        expect([date, days[0].counterparties]).toEqual([date, count])
      }
    })

    test('a shorter range reports the same days', async () => {
      for (const params of [{ token: 'iost' }, { account: 'gas.iost' }, { account: 'admin', token: 'ram' }]) {
        const { days } = await asked(params)
        for (const [from, to] of [
          [0, 0],
          [3, 9],
          [days.length - 2, days.length - 1],
        ] as const) {
          const range = { start_date: everyDate[from] ?? '', end_date: everyDate[to] ?? '' }
          expect((await asked({ ...params, ...range })).days).toEqual(days.slice(from, to + 1))
        }
      }
    })

    test('each day matches get-balance-history', async () => {
      const { days } = await asked({ account: 'admin' })
      const steps = { account: 'admin', step: 'day', sort: 'asc', size: '500', start_date, end_date }
      const { changes } = await ask('get-balance-history', steps, { deps: { store: opened.store } })
      const flowsOf = ({ date, in: gained, out }: Readonly<Record<string, string>>) => [date, gained, out]
      expect(days.map(flowsOf)).toEqual(changes.map(flowsOf))
    })

    if (chain === 'generated')
      test('a file has the columns of these rows', async () => {
        const { ask: call, key } = serviceOn(opened.store)
        for (const [of, columns] of [
          [{ token: 'iost' }, 'transfers,volume,issued,destroyed,supply,holders'],
          [{ account: 'admin' }, 'in,out,movements_in,movements_out,counterparties,reason'],
        ] as const) {
          const query = new URLSearchParams({ module: 'base', action: 'get-daily-statistics', apikey: key, ...of })
          const text = await (await call(`/api/?${query}&format=csv&start_date=1970-01-01&end_date=1970-01-02`)).text()
          expect(text.split('\r\n')[0]).toBe(`date,complete,${columns},complete_rows`)
        }
      })
  })
