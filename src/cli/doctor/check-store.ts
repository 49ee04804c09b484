import { accessSync, constants, existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { MEND, MIGRATE } from '#store/failures.ts'
import type { ServerReport } from '#store/maintain-port.ts'
import { readDisk } from '#store/own-files.ts'
import type { Published, Store } from '#store/port.ts'
import type { StoreAddress } from '../setting-readers.ts'
import { askQuestion, type DoctorFinding, findingsAbout, type Tell } from './finding.ts'

const { ok, warning, wrong } = findingsAbout('store')

/** Privileges required for serving; the others are required for loading. */
const FOR_SERVING: readonly string[] = ['read', 'view_index_metadata']

/** Checks the disks, privileges and settings of a store's server. */
export const checkServer = ({
  disks,
  missingPrivileges,
  blocked,
  createsIndices,
}: ServerReport): readonly DoctorFinding[] => [
  ...diskFindings(disks),
  ...rightFindings(missingPrivileges),
  ...(blocked.length === 0
    ? []
    : [
        wrong(
          `Elasticsearch made ${blocked.length} indices read-only, such as ${blocked[0]}: a disk was full`,
          'Make room; Elasticsearch lifts the block by itself below its high watermark.',
        ),
      ]),
  ...(createsIndices === true
    ? [
        warning(
          'Elasticsearch creates missing indices on write',
          'A lost index could come back empty: set action.auto_create_index to false in the cluster settings.',
        ),
      ]
    : []),
]

const diskFindings = (disks: ServerReport['disks']): readonly DoctorFinding[] =>
  disks === undefined
    ? [
        warning(
          'The disks of Elasticsearch are unknown: the user lacks the privilege to read them',
          "Give the user the cluster privilege 'monitor', or watch them elsewhere: GET _cat/allocation.",
        ),
      ]
    : disks.map(({ server, freeBytes, totalBytes, leastBytes }) => {
        const what = `${gigabytes(freeBytes)} of ${gigabytes(totalBytes)} are free on the disk of ${server}`
        return freeBytes < leastBytes
          ? warning(
              `${what}, less than the low watermark of ${gigabytes(leastBytes)}`,
              'Elasticsearch places no new indices there, and soon refuses writes: make room or add a server.',
            )
          : ok(what)
      })

function rightFindings(lacks: ServerReport['missingPrivileges']): readonly DoctorFinding[] {
  if (lacks === undefined) return [ok('Elasticsearch checks no privileges, or does not report them')]
  if (lacks.length === 0) return [ok('The user of Elasticsearch may read and write the indices')]
  const what = `The user of Elasticsearch lacks on the indices: ${lacks.join(', ')}`
  return [
    lacks.some(privilege => FOR_SERVING.includes(privilege))
      ? wrong(what, 'Give it the role iostlens_service of indices/roles.yml, or iostlens_loader to load.')
      : warning(what, "It may serve; 'iostlens load' and 'up' need the role iostlens_loader of indices/roles.yml."),
  ]
}

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`

/** Minimum free space in bytes, enough for a load to go on for a while. */
const LEAST_BYTES = 5_000_000_000

const STORE_HELP =
  'Check --store (or --data). For Elasticsearch: that it runs (curl URL/_cluster/health) and that user and password are right.'

type StoreFrom = {
  readonly store: Pick<Store, 'name' | 'check' | 'published' | 'keys' | 'serverReport'>
  readonly address: StoreAddress
}

/** Checks mappings, loaded data, keys, privileges and disk space, side by side. */
export async function checkStore({ store, address }: StoreFrom, tell: Tell): Promise<void> {
  const { serverReport } = store
  const questions: readonly (() => Promise<readonly DoctorFinding[]>)[] = [
    () => shapeFindings(store),
    () => readFindings(store),
    ...(address.type === 'sqlite' ? [async () => fileFindings(resolve(address.path))] : []),
    ...(serverReport === undefined ? [] : [async () => checkServer(await serverReport())]),
  ]
  const asked = { about: 'store', of: store.name, help: STORE_HELP, tell } as const
  await Promise.all(questions.map(question => askQuestion(asked, question)))
}

async function shapeFindings({ name, check }: StoreFrom['store']): Promise<readonly DoctorFinding[]> {
  const differences = await check()
  if (differences.length === 0)
    return [ok(`${name} is of this version, with all its parts; 'iostlens verify' checks their content`)]
  if (differences.every(({ problem }) => problem === 'missing'))
    return [
      warning(
        `${name} does not exist yet, or lacks ${differences.length} parts`,
        "'iostlens load' and 'up' create it; 'iostlens indices create' does so alone.",
      ),
    ]
  return differences.map(({ name: part, problem, detail, help }) =>
    wrong(`${name}: ${part} is ${problem}: ${detail}`, problem === 'different' ? (help ?? MIGRATE) : MEND),
  )
}

async function readFindings({ name, published, keys }: StoreFrom['store']): Promise<readonly DoctorFinding[]> {
  const at: Published | undefined = await published()
  if (at === undefined) return [ok(`${name} has no blocks yet`)]
  const { length } = await keys.list()
  return [ok(`${name} has blocks up to ${at.height}, and ${length} API keys`)]
}

function fileFindings(path: string): readonly DoctorFinding[] {
  const { server: folder, freeBytes: free } = readDisk(dirname(path))
  const text = `${Math.floor(free / 1_000_000)} MB are free in ${folder}`
  const room =
    free < LEAST_BYTES ? warning(text, `Make room, or set --data to a larger disk: df -h ${folder}`) : ok(text)
  try {
    accessSync(existsSync(path) ? path : folder, constants.R_OK | constants.W_OK)
    return [room]
  } catch {
    const help = `'iostlens serve' only reads; to load, give this user the right: ls -l ${folder}`
    return [room, warning(`${path} cannot be written by this user`, help)]
  }
}
