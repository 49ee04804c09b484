import type { Explorer } from './served.ts'

/** Names that break careless programs, and kinds of owners that are no accounts. */
const OWNERS = ['admin', 'busyhub', 'deadaddr', '__proto__', '12345', 'constructor', '0', 'vote.iost', 'token.iost']
const EACH = 6

let known: Promise<readonly string[]> | undefined

/**
 * Paths of pages about things of the recorded chain that differ as much as possible. They are chosen once per
 * test process, since all transactions are read for that.
 */
export function samplePaths(explorer: Explorer): Promise<readonly string[]> {
  known ??= listPaths(explorer)
  return known
}

async function listPaths({ listAll }: Explorer): Promise<readonly string[]> {
  const kinds = new Map<string, string[]>()
  for (const { tx_hash, status_code, actions } of await listAll('base/get-transaction-list')) {
    const kind = `${status_code} ${Math.min(actions, 3)}`
    const hashes = kinds.get(kind) ?? []
    if (hashes.length < EACH) kinds.set(kind, [...hashes, tx_hash])
  }
  const contracts = await listAll('base/get-contract-list')
  return [
    ...['/', '/blocks', '/blocks?page=2', '/transactions', '/contracts', '/search?text=b'],
    ...['/block/0', '/block/1', '/block/4851'],
    ...OWNERS.map(owner => `/account/${owner}`),
    ...[...kinds.values()].flat().map(hash => `/tx/${hash}`),
    ...[contracts.slice(0, EACH), contracts.slice(-EACH)].flat().map(({ contract_id }) => `/contract/${contract_id}`),
    ...['/tokens', '/tokens?page=2', '/token/iost', '/token/iost?holders=1', '/token/iost?holders=1&page=2'],
    ...['/producers', '/producer/producer000', '/producer/prod_01', '/producer/prod_11'],
    ...['/token/ram', '/wealth', '/wealth?page=2'],
    ...['/nfts', '/nft/nft_cats', '/nft/nft_cats?owners=1', '/nft/nft_dogs?page=1', '/nft/nft_dogs'],
    ...['/nft/nft_cats/0', '/nft/nft_cats/8', '/nft/nft_dogs/4'],
    ...['/account/user_001/iost', '/account/user_001/1e5', '/account/user_001/iost?page=2'],
    ...['/statistics', '/statistics?start_date=2026-11-20&end_date=2026-11-21', '/statistics/iost_moved'],
    ...['/contract/token.iost/storage', '/contract/vote.iost/storage?key=u_1&field=admin'],
    '/account/busyhub?token=iost',
    '/account/busyhub?failed=1',
    '/account/admin?func_name=token.iost%2Ftransfer&page=2',
    '/account/busyhub?token=iost&failed=1',
    '/account/busyhub?start_block=4000&end_block=4500&from=2026-11-21&to=2026-11-21',
    '/contract/token.iost?action_name=transfer&page=2',
  ]
}

/** A kind of pages that differ little: with the same first part and the same names of parameters. */
export const toKind = (path: string): string => path.replace(/(?<=^\/\w+\/)[^/?]+/, '').replaceAll(/=[^&]*/g, '')

/** The first pages of each kind. */
export function choosePages(paths: readonly string[], each: number): readonly string[] {
  const chosen = new Map<string, number>()
  return paths.filter(path => {
    const count = chosen.get(toKind(path)) ?? 0
    chosen.set(toKind(path), count + 1)
    return count < each
  })
}

export const inChinese = (paths: readonly string[]): readonly string[] => paths.map(path => `/zh${path}`)
