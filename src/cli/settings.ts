import { PROOF_LEVELS } from '#chain/block.ts'
import { DEFAULT_PLAN, PLAN_NAMES, PLANS, TEST_PLAN } from '#keys/plan.ts'
import { PARTITION_DOCUMENTS } from '#store/elastic/open-elastic.ts'
import { DAY_MS, MINUTE_MS } from '#time/clock.ts'
import {
  address,
  basePath,
  choice,
  count,
  duration,
  durationOrNever,
  either,
  fileMode,
  line,
  listenAddress,
  nodeUrls,
  path,
  pathOrUrl,
  proxies,
  publicUrl,
  type SettingReader,
  storeAddress,
  testKey,
  yesNo,
} from './setting-readers.ts'

/** One decision of an operator, set by the flag `--name` or by `IOSTLENS_NAME` in the environment. */
type Setting<T> = {
  readonly reader: SettingReader<T>
  readonly about: string
  /** Default, as text; absent: the value is undefined. */
  readonly fallback?: string
  /**
   * A secret is never shown. `--name-file PATH` and `IOSTLENS_NAME_FILE` read it from a file. A plain flag
   * would appear in the list of processes, so only `shared` secrets have one.
   */
  readonly secret?: 'shared' | 'private'
}

/** A setting with a default, so that it always has a value. */
function withDefault<T>(reader: SettingReader<T>, about: string, fallback: string): Setting<T> {
  return { reader, about, fallback }
}

/** A switch that is off by default. */
function flag(about: string): Setting<boolean> {
  return withDefault(yesNo, about, 'false')
}

function optional<T>(reader: SettingReader<T>, about: string): Setting<T | undefined> {
  return { reader, about }
}

function secret<T>(kind: 'shared' | 'private', setting: Setting<T>): Setting<T> {
  return { ...setting, secret: kind }
}

/** Every setting of every command, in the order of `iostlens config`. */
export const settings = {
  node: optional(
    nodeUrls,
    'RPC URL of a node, or several of the same chain, comma-separated; the healthy node with the highest block is used. archive:FOLDER or archive:URL is an archive of blocks: alone, or with nodes for the blocks that it does not have.',
  ),
  'node-timeout': withDefault(duration(100, 10 * MINUTE_MS), 'Time limit of one request to a node.', '10s'),
  'node-requests': withDefault(
    count(1, 256),
    'Number of block ranges requested from one node at the same time, fewer from one that is slower than the others; from several nodes at most twice as many.',
    '4',
  ),
  prove: optional(
    choice('LEVEL', PROOF_LEVELS),
    "How far the blocks of a node are proved before they are stored: linked (by their hashes), signed (also by the producer's signature) or whole (also the text of every transaction). Default: signed; for verify and repair: each block as far as it was proved when it was loaded.",
  ),
  data: withDefault(
    path,
    'Data folder. It contains the embedded store unless --store is set; with Elasticsearch, a loader keeps a copy of the state there (state.sqlite).',
    'data',
  ),
  store: optional(
    storeAddress,
    'Where data is stored: sqlite:PATH, or http(s)://HOST:PORT/PREFIX for Elasticsearch. All index names begin with PREFIX (default iostlens). Separate the hosts of a cluster with commas. Default: iostlens.sqlite in the data folder.',
  ),
  'store-user': optional({ ...line, value: 'NAME' }, 'Elasticsearch user.'),
  'store-password': secret('private', optional(line, 'Password of the Elasticsearch user.')),
  'store-api-key': secret('private', optional(line, 'Elasticsearch API key, instead of user and password.')),
  'store-ca': optional(
    path,
    'PEM file of the certificate authority (CA) that signed the certificate of Elasticsearch.',
  ),
  'store-timeout': withDefault(duration(100, 10 * MINUTE_MS), 'Time limit of one request to Elasticsearch.', '30s'),
  replicas: withDefault(count(0, 10), 'Number of replicas of each shard, for indices that are created.', '0'),
  'partition-documents': withDefault(
    count(1, 2_000_000_000),
    'Number of history documents in a partition; Elasticsearch gets new indices for the next partition.',
    String(PARTITION_DOCUMENTS),
  ),
  lease: withDefault(duration(1_000, 60 * MINUTE_MS), "Time after which an unresponsive loader's lock expires.", '15s'),
  listen: withDefault(
    listenAddress,
    'Address to serve on; port 0 picks a free port. With unix:PATH a Unix socket for a reverse proxy on the same machine.',
    '127.0.0.1:8080',
  ),
  'socket-mode': withDefault(
    fileMode,
    'Access rights of the Unix socket of --listen; users with write access may send requests.',
    '660',
  ),
  'base-path': withDefault(
    basePath,
    'Path prefix of every address, for a reverse proxy that passes paths on as they are; / is none. A proxy that removes its prefix needs no setting, because all links are relative.',
    '/',
  ),
  explorer: flag(
    'Also serve the explorer: pages for people, at / and without a key. A network address may open 600 pages in a minute.',
  ),
  'public-url': optional(
    publicUrl,
    'Public address of the service, for the absolute addresses that the explorer gives to search engines. Default: the address of each request, unless it came through a proxy; then addresses stay relative.',
  ),
  'metrics-listen': optional(
    address,
    'Separate address for /metrics (Prometheus). Default: /metrics is served beside the API; load has none then.',
  ),
  'reuse-port': flag(
    'Share the port with other processes of the same user that have this setting, too (Linux): the system divides connections among them, so that one machine serves with several cores, and for a restart without a lost request the next process is started before this one is stopped. A Unix socket goes to the process that was started last.',
  ),
  drain: withDefault(
    duration(0, 10 * 60_000),
    'Time that requests in progress get when the service stops; unfinished ones are answered with 503. A supervisor must wait longer before it kills.',
    '5s',
  ),
  threads: optional(
    count(1, 256),
    'Number of threads of a load, one of which derives and writes while up to three others prove blocks; 1 does everything in one thread. Default: the number of processor cores where at least 10,000 blocks are to be loaded, else 1.',
  ),
  'test-key': secret(
    'shared',
    withDefault(
      testKey,
      `Shared test key with a low rate limit (${TEST_PLAN.perSecond} requests per second, ${TEST_PLAN.perDay} per day); off disables it.`,
      'off',
    ),
  ),
  'trusted-proxies': optional(
    proxies,
    'Proxies in front of the service, whose X-Forwarded-For (or else Forwarded) names the client; unix for a proxy on the Unix socket of --listen. Without it the limits by address, of the test key and of wrong keys, are for the address that connects, or for all who use the Unix socket together.',
  ),
  deadline: withDefault(
    duration(10, 10 * MINUTE_MS),
    'Time limit of one API request; beyond it the response is 504.',
    '10s',
  ),
  'ranking-limit': withDefault(
    duration(10, 60 * MINUTE_MS),
    'Time limit of the work for one page of a ranking of the past (get-token-holder and get-producer-voter with at_block or at_time, and get-reward-shares), beside --deadline; beyond it the response is 503 and names the export, which has no limit.',
    '60s',
  ),
  'max-in-flight': withDefault(
    count(1, 100_000),
    'Number of requests that may query the store at once. Further requests wait, in turn by key, for at most one second; then the response is 503.',
    '64',
  ),
  'kept-answers': withDefault(
    { ...count(0, 4_096), value: 'MB' },
    'Memory for cached answers, which equal requests share until the store changes; 0: each request reads the store.',
    '16',
  ),
  'max-exports': withDefault(
    count(1, 24),
    'Number of exports (format=ndjson or csv) that may be sent at once, at most two of one key; further ones are refused with 503.',
    '8',
  ),
  'max-feeds': withDefault(
    count(1, 100_000),
    'Number of feeds (format=sse) that may be open at once; further ones are refused with 503. The same number of live pages of the explorer may be open in addition.',
    '5000',
  ),
  'max-feeds-per-key': withDefault(
    count(1, 100_000),
    'Number of feeds of one key, and of live pages of the explorer from one network address, that may be open at once; further ones are refused with 429.',
    '100',
  ),
  'export-stall': withDefault(
    duration(100, 10 * MINUTE_MS),
    'Time after which an export or a feed is cut off if its client reads nothing.',
    '30s',
  ),
  'max-lag': optional(
    duration(1_000, 365 * DAY_MS),
    'Age of the last loaded block beyond which /ready returns 503. Blocks are loaded when they are irreversible, about 40 seconds after they were made, so 5m is a useful value. Default: no limit.',
  ),
  'ready-needs-node': flag(
    'Let /ready also return 503 while the node is unreachable, behind the store, of another chain or on another branch, or loading is more than 1,000 blocks behind. Without it /ready tells whether the store can answer: services that share a node would all become unready at once.',
  ),
  format: withDefault(choice('FORMAT', ['envelope', 'bare']), 'Default response format: envelope or bare.', 'envelope'),
  compat: withDefault(
    choice('PROFILE', ['none', 'iostabc']),
    'Default compatibility profile of responses: none or iostabc.',
    'none',
  ),
  prices: optional(pathOrUrl, 'Market prices as JSON {usd, cny, rank, time}, read again every minute.'),
  'prices-history': optional(
    path,
    'Prices of IOST by UTC day as CSV, read again every minute: a line date,price for each day, such as 2026-11-21,0.0051, optionally below a line date,CURRENCY (default USD). Downloads for accountants take the net worth from them.',
  ),
  profiles: optional(path, 'Descriptions and logos of producers as JSON or CSV, read again every minute.'),
  labels: optional(
    path,
    'Names of accounts and contracts for pages of the explorer as CSV, read at the start: a line NAME,LABEL or NAME,LABEL,CHINESE LABEL for each, such as exchange01,Some Exchange. Pages show a label beside its name, and the search finds it.',
  ),
  'log-level': withDefault(
    choice('LEVEL', ['debug', 'info', 'warn', 'error']),
    'Minimum log level: debug, info, warn or error.',
    'info',
  ),
  'log-format': withDefault(choice('FORMAT', ['plain', 'json']), 'Log format on stderr: plain or json.', 'plain'),
  'log-sample': withDefault(
    count(1, 1_000_000),
    'One of N successful requests is logged; refusals and failures always are. /metrics counts all of them.',
    '1',
  ),
  to: optional(
    { ...either(count(0, 999_999_999_999), storeAddress), value: 'HEIGHT|STORE' },
    'Last block to load, or to write into an archive. For copy: the store to copy into, named as in --store.',
  ),
  from: withDefault(
    { ...count(0, 999_999_999_999), value: 'HEIGHT' },
    'First block of a new archive. One that does not begin with block 0 can only be used beside a node.',
    '0',
  ),
  'blocks-per-file': optional(
    count(100, 1_000_000),
    'Number of blocks in a complete file of an archive; a multiple of 100. Default: as in the existing archive, 10000 for a new one.',
  ),
  once: flag('End at the last irreversible block instead of following the chain.'),
  wait: withDefault(
    duration(100, DAY_MS),
    'Time without progress after which load --once and archive write end with exit code 75.',
    '5m',
  ),
  all: flag('Check every stored block instead of a sample.'),
  sample: withDefault(
    count(0, 999_999_999_999),
    'Number of stored blocks, evenly spread, to compare with the node.',
    '1000',
  ),
  json: flag('Print one JSON object instead of lines.'),
  repository: optional(
    { ...line, value: 'NAME' },
    'Snapshot repository of Elasticsearch, registered there by its operator.',
  ),
  'dry-run': flag('Print what would be written, and write nothing.'),
  'delete-old': flag('Delete replaced indices when done.'),
  plan: optional(
    choice('NAME', PLAN_NAMES),
    `Plan of the key: ${PLAN_NAMES.map(name => `${name} (${PLANS[name].perSecond} requests per second, ${PLANS[name].perDay} per day)`).join(', ')}. A new key without one is ${DEFAULT_PLAN}.`,
  ),
  'per-second': optional(
    count(1, 1_000_000),
    'Requests per second that the key may make, instead of those of its plan.',
  ),
  'per-day': optional(
    count(1, 1_000_000_000_000),
    'Requests per day (UTC) that the key may make, instead of those of its plan.',
  ),
  note: optional(line, 'Note about the key, such as its owner; off removes it. Callers never see it.'),
  rename: optional({ ...line, value: 'NAME' }, 'New name of the key.'),
  expires: optional(
    durationOrNever(1_000, 36_500 * DAY_MS),
    'Validity of the key from now on, such as 90d, or never. Default for a new key: never.',
  ),
  grace: withDefault(duration(0, 365 * DAY_MS), 'Time for which the former key keeps working after a rotation.', '24h'),
  counts: flag('Print the requests of each key, today and in the last 30 days, and its last use.'),
} as const

export type SettingName = keyof typeof settings
export const settingNames = Object.keys(settings) as readonly SettingName[]

/** The definition of a setting, with its value type erased. */
export const getSetting = (name: SettingName): Setting<unknown> => settings[name]

export type Values = {
  readonly [K in SettingName]: (typeof settings)[K] extends Setting<infer T> ? T : never
}

export const environmentName = (name: SettingName): string => `IOSTLENS_${name.toUpperCase().replaceAll('-', '_')}`

/** The settings from one to another, in the order of `settings`: those of one purpose follow each other there. */
const listFrom = (first: SettingName, last: SettingName): readonly SettingName[] =>
  settingNames.slice(settingNames.indexOf(first), settingNames.indexOf(last) + 1)

/** Settings shared by several commands, grouped by purpose. */
export const NODE = listFrom('node', 'prove')
export const STORE = listFrom('data', 'store-timeout')
export const LOADING = listFrom('replicas', 'lease')
export const SERVING: readonly SettingName[] = [
  ...listFrom('listen', 'drain'),
  ...listFrom('test-key', 'ready-needs-node'),
  'log-sample',
  ...listFrom('format', 'labels'),
]
export const LOGGING = listFrom('log-level', 'log-format')
