import { accessSync, constants, existsSync, statfsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Published, Store } from '#store/port.ts'
import type { StoreAddress } from '../readers.ts'
import { checkServer } from './check-server.ts'
import { type Finding, wrongBecause } from './finding.ts'

/** Room that a load needs to go on for a while, bytes. */
const LEAST_BYTES = 5_000_000_000

const STORE_HELP =
  'Check --store (or --data). For Elasticsearch: that it runs (curl URL/_cluster/health) and that user and password are right.'

export type StoreFrom = {
  readonly store: Pick<Store, 'name' | 'check' | 'published' | 'keys' | 'serverReport'>
  readonly address: StoreAddress
}

/** Mappings, what is loaded, keys, rights and disk. */
export const checkStore = async ({ store, address }: StoreFrom): Promise<readonly Finding[]> => {
  try {
    return [
      ...(await shapeFindings(store)),
      ...(await readFindings(store)),
      ...(address.type === 'sqlite' ? fileFindings(resolve(address.path)) : []),
      ...(store.serverReport === undefined ? [] : checkServer(await store.serverReport())),
    ]
  } catch (error) {
    return [wrongBecause('store', error, STORE_HELP)]
  }
}

const shapeFindings = async ({ name, check }: StoreFrom['store']): Promise<readonly Finding[]> => {
  const differences = await check()
  if (differences.length === 0)
    return [{ about: 'store', is: 'ok', what: `${name} is of this version, with all its parts` }]
  if (differences.every(({ problem }) => problem === 'missing'))
    return [
      {
        about: 'store',
        is: 'warning',
        what: `${name} is not there yet, or lacks ${differences.length} parts`,
        help: "'iostlens load' and 'up' create it; 'iostlens indices create' does so alone.",
      },
    ]
  return differences.map(({ name: part, problem, detail }) => ({
    about: 'store',
    is: 'wrong',
    what: `${name}: ${part} is ${problem}: ${detail}`,
    help:
      problem === 'different'
        ? "Run 'iostlens indices migrate', or use the version that created the store."
        : "Restore it from a backup, or run 'iostlens repair'.",
  }))
}

const readFindings = async ({ name, published, keys }: StoreFrom['store']): Promise<readonly Finding[]> => {
  const at: Published | undefined = await published()
  if (at === undefined) return [{ about: 'store', is: 'ok', what: `${name} has no blocks yet` }]
  const { length } = await keys.list()
  return [{ about: 'store', is: 'ok', what: `${name} has blocks up to ${at.height}, and ${length} API keys` }]
}

const fileFindings = (path: string): readonly Finding[] => {
  let folder = dirname(path)
  while (!existsSync(folder)) folder = dirname(folder)
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const text = `${Math.floor(free / 1_000_000)} MB are free in ${folder}`
  const room: Finding =
    free < LEAST_BYTES
      ? {
          about: 'store',
          is: 'warning',
          what: text,
          help: `Make room, or set --data to a larger disk: df -h ${folder}`,
        }
      : { about: 'store', is: 'ok', what: text }
  try {
    accessSync(existsSync(path) ? path : folder, constants.R_OK | constants.W_OK)
    return [room]
  } catch {
    const help = `'iostlens serve' only reads; to load, give this user the right: ls -l ${folder}`
    return [room, { about: 'store', is: 'warning', what: `${path} cannot be written by this user`, help }]
  }
}
