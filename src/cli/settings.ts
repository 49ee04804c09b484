import { PROOF_LEVELS } from '#chain/proof.ts'
import { TEST_PLAN } from '#keys/plan.ts'
import { PARTITION_DOCUMENTS } from '#store/elastic/open-elastic.ts'
import { DAY_MS, MINUTE_MS } from '#time/units.ts'
import { keySettings } from './key-settings.ts'
import { listenSettings } from './listen-settings.ts'
import {
  choice,
  count,
  duration,
  either,
  line,
  nodeUrls,
  path,
  pathOrUrl,
  proxies,
  storeAddress,
  testKey,
} from './readers.ts'
import { flag, optional, type Setting, withDefault } from './setting.ts'

/** Every setting of every command, in the order of `iostlens config`. */
export const settings = {
  node: optional({
    reader: nodeUrls,
    value: 'URL[,URL]',
    about:
      'RPC URL of a node, or several of the same chain, comma-separated; the healthy node with the highest block is used. archive:FOLDER or archive:URL is an archive of blocks: alone, or with nodes for the blocks that it does not have.',
  }),
  'node-timeout': withDefault({
    reader: duration(100, 10 * MINUTE_MS),
    value: 'TIME',
    about: 'Time limit of one request to a node.',
    fallback: '10s',
  }),
  'node-requests': withDefault({
    reader: count(1, 256),
    value: 'N',
    about:
      'Number of block ranges requested from one node at the same time, fewer from one that is slower than the others; from several nodes at most twice as many.',
    fallback: '4',
  }),
  prove: optional({
    reader: choice(...PROOF_LEVELS),
    value: 'LEVEL',
    about:
      "How far the blocks of a node are proved before they are stored: linked (by their hashes), signed (also by the producer's signature) or whole (also the text of every transaction). Default: signed; for verify and repair: each block as far as it was proved when it was loaded.",
  }),
  data: withDefault({
    reader: path,
    value: 'PATH',
    about:
      'Data folder. It contains the embedded store unless --store is set; with Elasticsearch, a loader keeps a copy of the state there (state.sqlite).',
    fallback: 'data',
  }),
  store: optional({
    reader: storeAddress,
    value: 'STORE',
    about:
      'Where data is stored: sqlite:PATH, or http(s)://HOST:PORT/PREFIX for Elasticsearch. All index names begin with PREFIX (default iostlens). Separate the hosts of a cluster with commas. Default: iostlens.sqlite in the data folder.',
  }),
  'store-user': optional({ reader: line, value: 'NAME', about: 'Elasticsearch user.' }),
  'store-password': optional({
    reader: line,
    value: 'TEXT',
    about: 'Password of the Elasticsearch user.',
    secret: 'private',
  }),
  'store-api-key': optional({
    reader: line,
    value: 'TEXT',
    about: 'Elasticsearch API key, instead of user and password.',
    secret: 'private',
  }),
  'store-ca': optional({
    reader: path,
    value: 'PATH',
    about: 'PEM file of the certificate authority (CA) that signed the certificate of Elasticsearch.',
  }),
  'store-timeout': withDefault({
    reader: duration(100, 10 * MINUTE_MS),
    value: 'TIME',
    about: 'Time limit of one request to Elasticsearch.',
    fallback: '30s',
  }),
  replicas: withDefault({
    reader: count(0, 10),
    value: 'N',
    about: 'Number of replicas of each shard, for indices that are created.',
    fallback: '0',
  }),
  'partition-documents': withDefault({
    reader: count(1, 2_000_000_000),
    value: 'N',
    about: 'Number of history documents in a partition; Elasticsearch gets new indices for the next partition.',
    fallback: String(PARTITION_DOCUMENTS),
  }),
  lease: withDefault({
    reader: duration(1_000, 60 * MINUTE_MS),
    value: 'TIME',
    about: "Time after which an unresponsive loader's lock expires.",
    fallback: '15s',
  }),
  ...listenSettings,
  threads: optional({
    reader: count(1, 256),
    value: 'N',
    about:
      'Number of threads of a load, one of which derives and writes while up to three others prove blocks; 1 does everything in one thread. Default: the number of processor cores where at least 10,000 blocks are to be loaded, else 1.',
  }),
  'test-key': withDefault({
    reader: testKey,
    value: 'TEXT',
    about: `Shared test key with a low rate limit (${TEST_PLAN.perSecond} requests per second, ${TEST_PLAN.perDay} per day); off disables it.`,
    fallback: 'off',
    secret: 'shared',
  }),
  'trusted-proxies': optional({
    reader: proxies,
    value: 'CIDR[,CIDR]',
    about:
      'Proxies in front of the service, whose X-Forwarded-For (or else Forwarded) names the client; unix for a proxy on the Unix socket of --listen. Without it the limits by address, of the test key and of wrong keys, are for the address that connects, or for all who use the Unix socket together.',
  }),
  deadline: withDefault({
    reader: duration(10, 10 * MINUTE_MS),
    value: 'TIME',
    about: 'Time limit of one API request; beyond it the response is 504.',
    fallback: '10s',
  }),
  'ranking-limit': withDefault({
    reader: duration(10, 60 * MINUTE_MS),
    value: 'TIME',
    about:
      'Time limit of the work for one page of a ranking of the past (get-token-holder and get-producer-voter with at_block or at_time, and get-reward-shares), beside --deadline; beyond it the response is 503 and names the export, which has no limit.',
    fallback: '60s',
  }),
  'max-in-flight': withDefault({
    reader: count(1, 100_000),
    value: 'N',
    about:
      'Number of requests that may query the store at once. Further requests wait, in turn by key, for at most one second; then the response is 503.',
    fallback: '64',
  }),
  'kept-answers': withDefault({
    reader: count(0, 4_096),
    value: 'MB',
    about:
      'Memory for cached answers, which equal requests share until the store changes; 0: each request reads the store.',
    fallback: '16',
  }),
  'max-exports': withDefault({
    reader: count(1, 24),
    value: 'N',
    about:
      'Number of exports (format=ndjson or csv) that may be sent at once, at most two of one key; further ones are refused with 503.',
    fallback: '8',
  }),
  'max-feeds': withDefault({
    reader: count(1, 100_000),
    value: 'N',
    about:
      'Number of feeds (format=sse) that may be open at once; further ones are refused with 503. The same number of live pages of the explorer may be open in addition.',
    fallback: '5000',
  }),
  'max-feeds-per-key': withDefault({
    reader: count(1, 100_000),
    value: 'N',
    about:
      'Number of feeds of one key, and of live pages of the explorer from one network address, that may be open at once; further ones are refused with 429.',
    fallback: '100',
  }),
  'export-stall': withDefault({
    reader: duration(100, 10 * MINUTE_MS),
    value: 'TIME',
    about: 'Time after which an export or a feed is cut off if its client reads nothing.',
    fallback: '30s',
  }),
  'max-lag': optional({
    reader: duration(1_000, 365 * DAY_MS),
    value: 'TIME',
    about:
      'Age of the last loaded block beyond which /ready returns 503. Blocks are loaded when they are irreversible, about 40 seconds after they were made, so 5m is a useful value. Default: no limit.',
  }),
  'ready-needs-node': flag(
    'Let /ready also return 503 while the node is unreachable, behind the store, of another chain or on another branch, or loading is more than 1,000 blocks behind. Without it /ready tells whether the store can answer: services that share a node would all become unready at once.',
  ),
  format: withDefault({
    reader: choice('envelope', 'bare'),
    value: 'FORMAT',
    about: 'Default response format: envelope or bare.',
    fallback: 'envelope',
  }),
  compat: withDefault({
    reader: choice('none', 'iostabc'),
    value: 'PROFILE',
    about: 'Default compatibility profile of responses: none or iostabc.',
    fallback: 'none',
  }),
  prices: optional({
    reader: pathOrUrl,
    value: 'PATH|URL',
    about: 'Market prices as JSON {usd, cny, rank, time}, read again every minute.',
  }),
  'prices-history': optional({
    reader: path,
    value: 'PATH',
    about:
      'Prices of IOST by UTC day as CSV, read again every minute: a line date,price for each day, such as 2026-11-21,0.0051, optionally below a line date,CURRENCY (default USD). Downloads for accountants take the net worth from them.',
  }),
  profiles: optional({
    reader: path,
    value: 'PATH',
    about: 'Descriptions and logos of producers as JSON or CSV, read again every minute.',
  }),
  labels: optional({
    reader: path,
    value: 'PATH',
    about:
      'Names of accounts and contracts for pages of the explorer as CSV, read at the start: a line NAME,LABEL or NAME,LABEL,CHINESE LABEL for each, such as exchange01,Some Exchange. Pages show a label beside its name, and the search finds it.',
  }),
  'log-level': withDefault({
    reader: choice('debug', 'info', 'warn', 'error'),
    value: 'LEVEL',
    about: 'Minimum log level: debug, info, warn or error.',
    fallback: 'info',
  }),
  'log-format': withDefault({
    reader: choice('plain', 'json'),
    value: 'FORMAT',
    about: 'Log format on stderr: plain or json.',
    fallback: 'plain',
  }),
  'log-sample': withDefault({
    reader: count(1, 1_000_000),
    value: 'N',
    about: 'One of N successful requests is logged; refusals and failures always are. /metrics counts all of them.',
    fallback: '1',
  }),
  to: optional({
    reader: either(count(0, 999_999_999_999), storeAddress),
    value: 'HEIGHT|STORE',
    about: 'Last block to load, or to write into an archive. For copy: the store to copy into, named as in --store.',
  }),
  from: withDefault({
    reader: count(0, 999_999_999_999),
    value: 'HEIGHT',
    about: 'First block of a new archive. One that does not begin with block 0 can only be used beside a node.',
    fallback: '0',
  }),
  'blocks-per-file': optional({
    reader: count(100, 1_000_000),
    value: 'N',
    about:
      'Number of blocks in a complete file of an archive; a multiple of 100. Default: as in the existing archive, 10000 for a new one.',
  }),
  once: flag('End at the last irreversible block instead of following the chain.'),
  wait: withDefault({
    reader: duration(100, DAY_MS),
    value: 'TIME',
    about: 'Time without progress after which load --once and archive write end with exit code 75.',
    fallback: '5m',
  }),
  all: flag('Check every stored block instead of a sample.'),
  sample: withDefault({
    reader: count(0, 999_999_999_999),
    value: 'N',
    about: 'Number of stored blocks, evenly spread, to compare with the node.',
    fallback: '1000',
  }),
  json: flag('Print one JSON object instead of lines.'),
  repository: optional({
    reader: line,
    value: 'NAME',
    about: 'Snapshot repository of Elasticsearch, registered there by its operator.',
  }),
  'dry-run': flag('Print what would be written, and write nothing.'),
  'delete-old': flag('Delete replaced indices when done.'),
  ...keySettings,
} as const

export type SettingName = keyof typeof settings
export const settingNames = Object.keys(settings) as readonly SettingName[]

/** The definition of a setting, with its value type erased. */
export const settingOf = (name: SettingName): Setting<unknown> => settings[name]

export type Values = {
  readonly [K in SettingName]: (typeof settings)[K] extends Setting<infer T> ? T : never
}

export const environmentName = (name: SettingName): string => `IOSTLENS_${name.toUpperCase().replaceAll('-', '_')}`
