import { PROOF_LEVELS } from '#chain/proof.ts'
import { DEFAULT_PLAN, TEST_PLAN } from '#keys/plan.ts'
import { PARTITION_DOCUMENTS } from '#store/elastic/open-elastic.ts'
import {
  address,
  choice,
  count,
  duration,
  nodeUrls,
  path,
  pathOrUrl,
  type Reader,
  secret,
  storeAddress,
  testKey,
  yesNo,
} from './readers.ts'

/** One thing an operator may decide: by flag `--name`, or by `IOSTLENS_NAME` in the environment. */
export type Setting<T> = {
  readonly reader: Reader<T>
  /** What stands for the value in help texts. */
  readonly value: string
  readonly about: string
  /** Absent: none, and the value is undefined. */
  readonly fallback?: string
  /**
   * Never shown. `--name-file PATH` and `IOSTLENS_NAME_FILE` read it from a file; by flag alone it would stand in the
   * list of processes, so only `shared` ones have a plain flag.
   */
  readonly secret?: 'shared' | 'private'
}

/** A setting that always has a value. */
const given = <T>(setting: Setting<T> & { readonly fallback: string }): Setting<T> => setting
/** A setting that may be left out. */
const maybe = <T>(setting: Setting<T>): Setting<T | undefined> => setting

const MINUTE = 60_000
const DAY = 86_400_000

/** Every setting of every command, in the order `iostlens config` prints them. */
export const settings = {
  node: maybe({
    reader: nodeUrls,
    value: 'URL[,URL]',
    about: 'RPC of a node, or several of one chain: the healthy one that is furthest is used.',
  }),
  'node-timeout': given({
    reader: duration(100, 10 * MINUTE),
    value: 'TIME',
    about: 'How long one request to a node may take.',
    fallback: '10s',
  }),
  'node-requests': given({
    reader: count(1, 256),
    value: 'N',
    about: 'Ranges of blocks asked for at the same time.',
    fallback: '4',
  }),
  prove: given({
    reader: choice(...PROOF_LEVELS),
    value: 'LEVEL',
    about:
      "How far a node's blocks are proved before they are believed: linked (hashes alone), signed (by a witness's signature too) or whole (the text of every transaction too).",
    fallback: 'signed',
  }),
  data: given({
    reader: path,
    value: 'PATH',
    about: 'Data folder; holds the embedded store unless --store says otherwise.',
    fallback: 'data',
  }),
  store: maybe({
    reader: storeAddress,
    value: 'STORE',
    about:
      'Where documents are kept: sqlite:PATH, or http(s)://HOST:PORT/PREFIX for Elasticsearch (PREFIX of all index names, default iostlens; hosts of one cluster with commas between). Default: iostlens.sqlite in the data folder.',
  }),
  'store-user': maybe({ reader: secret, value: 'NAME', about: 'User of Elasticsearch.' }),
  'store-password': maybe({
    reader: secret,
    value: 'TEXT',
    about: 'Password of that user.',
    secret: 'private',
  }),
  'store-api-key': maybe({
    reader: secret,
    value: 'TEXT',
    about: 'API key of Elasticsearch, instead of user and password.',
    secret: 'private',
  }),
  'store-ca': maybe({
    reader: path,
    value: 'PATH',
    about: 'PEM file of the authority that signed the certificate of Elasticsearch.',
  }),
  'store-timeout': given({
    reader: duration(100, 10 * MINUTE),
    value: 'TIME',
    about: 'How long one request to Elasticsearch may take.',
    fallback: '30s',
  }),
  replicas: given({
    reader: count(0, 10),
    value: 'N',
    about: 'Copies of each shard beside the first, for indices that are created.',
    fallback: '0',
  }),
  'partition-documents': given({
    reader: count(1, 2_000_000_000),
    value: 'N',
    about: 'Documents of history after which Elasticsearch gets new indices for what follows.',
    fallback: String(PARTITION_DOCUMENTS),
  }),
  lease: given({
    reader: duration(1_000, 60 * MINUTE),
    value: 'TIME',
    about: 'How long a loader that fell silent keeps others from taking over.',
    fallback: '15s',
  }),
  listen: given({
    reader: address,
    value: 'HOST:PORT',
    about: 'Where to serve; port 0 takes a free one.',
    fallback: '127.0.0.1:8080',
  }),
  'test-key': given({
    reader: testKey,
    value: 'TEXT',
    about: `A shared test key, with ${TEST_PLAN.perSecond} requests a second and ${TEST_PLAN.perDay} a day; off: there is none.`,
    fallback: 'off',
    secret: 'shared',
  }),
  deadline: given({
    reader: duration(10, 10 * MINUTE),
    value: 'TIME',
    about: 'How long a request may take before it is answered 504.',
    fallback: '10s',
  }),
  'max-in-flight': given({
    reader: count(1, 100_000),
    value: 'N',
    about:
      'Requests that ask the store at once; more wait for their turn, key by key, for at most a second, then they are answered 503.',
    fallback: '64',
  }),
  format: given({
    reader: choice('envelope', 'bare'),
    value: 'FORMAT',
    about: 'Form of answers when a request does not say: envelope or bare.',
    fallback: 'envelope',
  }),
  compat: given({
    reader: choice('none', 'iostabc'),
    value: 'PROFILE',
    about: 'Profile of answers when a request does not say: none or iostabc.',
    fallback: 'none',
  }),
  prices: maybe({
    reader: pathOrUrl,
    value: 'PATH|URL',
    about: 'Market figures as JSON {usd, cny, rank, time}, looked at every minute.',
  }),
  profiles: maybe({
    reader: path,
    value: 'PATH',
    about: "Producers' texts and logos, JSON or CSV, looked at every minute.",
  }),
  'log-level': given({
    reader: choice('debug', 'info', 'warn', 'error'),
    value: 'LEVEL',
    about: 'Least level that is logged: debug, info, warn or error.',
    fallback: 'info',
  }),
  'log-format': given({
    reader: choice('plain', 'json'),
    value: 'FORMAT',
    about: 'Form of log lines on stderr: plain or json.',
    fallback: 'plain',
  }),
  to: maybe({
    reader: count(0, 999_999_999_999),
    value: 'HEIGHT',
    about: 'Last block.',
  }),
  once: given({
    reader: yesNo,
    value: 'BOOL',
    about: 'End when the last irreversible block is loaded instead of following the chain.',
    fallback: 'false',
  }),
  wait: given({
    reader: duration(100, DAY),
    value: 'TIME',
    about:
      'With --once: how long it waits for a node or store without loading anything before it ends with 75.',
    fallback: '5m',
  }),
  all: given({
    reader: yesNo,
    value: 'BOOL',
    about: 'Look at every stored block instead of the first, the last and a spread of those between.',
    fallback: 'false',
  }),
  sample: given({
    reader: count(0, 999_999_999_999),
    value: 'N',
    about: 'Blocks taken from the node and compared with those stored, evenly spread.',
    fallback: '1000',
  }),
  json: given({
    reader: yesNo,
    value: 'BOOL',
    about: 'Print one JSON object instead of lines.',
    fallback: 'false',
  }),
  'dry-run': given({
    reader: yesNo,
    value: 'BOOL',
    about: 'Tell what would be written, and write nothing.',
    fallback: 'false',
  }),
  'delete-old': given({
    reader: yesNo,
    value: 'BOOL',
    about: 'Remove at the end what nobody is served from any more.',
    fallback: 'false',
  }),
  'per-second': given({
    reader: count(1, 1_000_000),
    value: 'N',
    about: 'Requests a second a new key may make.',
    fallback: String(DEFAULT_PLAN.perSecond),
  }),
  'per-day': given({
    reader: count(1, 1_000_000_000_000),
    value: 'N',
    about: 'Requests a day (UTC) a new key may make.',
    fallback: String(DEFAULT_PLAN.perDay),
  }),
  expires: maybe({
    reader: duration(1_000, 36_500 * DAY),
    value: 'TIME',
    about: 'How long a new key is valid, such as 90d. Default: until it is revoked.',
  }),
} as const

export type SettingName = keyof typeof settings
export const settingNames = Object.keys(settings) as readonly SettingName[]

/** The table seen as rows of any value. */
export const settingOf = (name: SettingName): Setting<unknown> => settings[name]

export type Values = {
  readonly [K in SettingName]: (typeof settings)[K] extends Setting<infer T> ? T : never
}

export const environmentName = (name: SettingName): string =>
  `IOSTLENS_${name.toUpperCase().replaceAll('-', '_')}`
