import type { PriceHistory, Prices, Profile } from '#actions/define.ts'
import type { Text } from '#actions/text.ts'
import type { Log } from '#failure/log.ts'
import type { Clock } from '#time/clock.ts'
import { parseLabels } from './labels.ts'
import { parsePriceHistory } from './price-history.ts'
import { parsePrices } from './prices.ts'
import { parseProfiles } from './profiles.ts'
import type { Values } from './settings.ts'
import { readOnce, type WatchedSource, watch } from './watched.ts'

/** The contents of the operator's files; undefined when no such file is set, or its URL has not answered yet. */
export type OperatorFiles = {
  readonly prices: ReturnType<Prices['get']>
  readonly priceHistory: ReturnType<PriceHistory['get']>
  /** Profiles by the producer's account. */
  readonly profiles: ReadonlyMap<string, Profile> | undefined
  /** Names of accounts and contracts for pages, by account or contract; read only at the start. */
  readonly labels: ReadonlyMap<string, Text> | undefined
}

/** Reads the operator's files, and all but the labels again every minute. */
export async function watchOperatorFiles(
  values: Pick<Values, 'prices' | 'prices-history' | 'profiles' | 'labels'>,
  watching: { readonly log: Log; readonly clock: Pick<Clock, 'sleep'> },
): Promise<{ get(): OperatorFiles; close(): void }> {
  const { prices: pricesAt, 'prices-history': historyAt, profiles: profilesAt, labels: labelsAt } = values
  const watched = async <T>(source: WatchedSource | undefined, what: string, parse: (text: string) => T) =>
    source && (await watch({ source, what, parse, ...watching }))
  const fileAt = (path: string | undefined): WatchedSource | undefined => (path === undefined ? undefined : { path })
  const labels = labelsAt === undefined ? undefined : await readOnce(labelsAt, { what: 'Labels', parse: parseLabels })
  const prices = await watched(pricesAt, 'Prices', parsePrices)
  const history = await watched(fileAt(historyAt), 'Price history', parsePriceHistory)
  const profiles = await watched(fileAt(profilesAt), 'Profiles', parseProfiles)
  return {
    get: () => ({
      prices: prices?.get(),
      priceHistory: history?.get(),
      profiles: profiles?.get(),
      labels,
    }),
    close: () => {
      prices?.close()
      history?.close()
      profiles?.close()
    },
  }
}
