import { type AcquirePermit, holdPermit } from '#actions/answer.ts'
import type { LongWork } from '#actions/define.ts'
import { badRequest } from '#actions/request/refusals.ts'
import { Failure } from '#failure/failure.ts'
import { type Caller, hashOfKey, type Keyring, TEST_KEY_ID } from '#keys/keyring.ts'
import type { Clock } from '#time/clock.ts'
import { type AddressLimits, listNetworks } from './networks.ts'
import { Busy, type FairQueue, type QueuePermit } from './queue.ts'
import { type Queues, takeStreamPermit } from './queues.ts'
import type { RateAnswer, Rates } from './rate.ts'

export type IdentifyDeps = { readonly keyring: Keyring; readonly addresses: AddressLimits }

export type Gate = IdentifyDeps & {
  readonly rates: Rates
  readonly queues: Queues
  readonly clock: Clock
}

/** A request as the gate sees it. */
type Arrival = {
  readonly request: Request
  /** The client's network. Absent: the network is unknown and not limited. */
  readonly client?: { readonly network: string } | undefined
  /** Values of `apikey`, in order. */
  readonly keys: readonly string[]
  /** The failure of a query that cannot be read; thrown only after the key was accepted. */
  readonly fault: Failure | undefined
  /** Headers of the answer; admission adds those of the plan. */
  readonly headers: Record<string, string>
  /** The request's fields in the log. Admission adds the id of the key. */
  readonly logFields: { key?: string }
}

/** The ways of one caller to obtain permits of the queues. */
export type CallerPermits = {
  /** A permit for an answer from the store. The signal ends every wait. */
  store(signal: AbortSignal): AcquirePermit
  /** A permit for a request to a node. */
  node(signal: AbortSignal): () => Promise<QueuePermit>
  /** Takes a permit among the exports; the caller releases it once. Throws 'rate_limited' or 'unavailable' at once. */
  export(): QueuePermit
  /** Takes a permit among the feeds, like `export`. */
  feed(): QueuePermit
  /** The caller's plan, for work that counts as more than one request. */
  readonly plan: {
    /**
     * Counts one more request as soon as the plan allows it. Throws 'rate_limited' when none are left today, and
     * 'forbidden' when the key is no longer valid.
     */
    more(signal: AbortSignal): Promise<void>
    /** Throws 'rate_limited' when fewer requests are left today. */
    require(requests: number): void
    /** Most rows that are read for one answer; undefined: any number. */
    readonly mostRows: number | undefined
  }
}

/**
 * Admits a request of a caller, within its plan, its network's share of the test key, and the service's capacity. Throws
 * 'rate_limited', 'unavailable', and the failure of a query that cannot be read.
 */
export async function admit(
  arrival: Arrival,
  caller: Caller,
  options: { readonly gate: Gate; readonly asks: 'store' | 'node'; readonly signal: AbortSignal },
) {
  const { rates, queues, clock, keyring, addresses } = options.gate
  const network = arrival.client?.network
  const tester = caller.id === TEST_KEY_ID ? network : undefined
  const wait = tester === undefined ? 0 : addresses.testWaitMs(tester, caller.plan)
  if (wait > 0) throw tooManyTests(wait)
  arrival.logFields.key = caller.id
  queues[options.asks].check(caller.id)
  const rate = rates.take(caller)
  // draft-ietf-httpapi-ratelimit-headers-03, the form clients know.
  Object.assign(arrival.headers, {
    'RateLimit-Limit': String(rate.limit),
    'RateLimit-Remaining': String(rate.remaining),
    'RateLimit-Reset': String(rate.resetSeconds),
  })
  if (!rate.allowed) throw tooFast(rate)
  // Counted last: a request that is refused takes nothing from its network's share.
  if (tester !== undefined) addresses.test(tester, caller.plan)
  if (arrival.fault !== undefined) throw arrival.fault
  if (rate.waitMs > 0) await pause(rate.waitMs, clock, options.signal)
  return {
    permits: createPermits(queues, {
      key: caller.id,
      plan: createPlanMeter(caller, { arrival, rates, clock, keyring }),
    }),
    /** Returns the counted request to the plan when the request was refused after all, for lack of room. */
    refused: (error: unknown): void => {
      // 'rate_limited' as well: the answer would count as more requests than the plan has left.
      if (error instanceof Busy || (error instanceof Failure && error.kind === 'rate_limited'))
        rates.giveBack(caller, rate)
    },
  }
}

/**
 * The refusal of a request for which there is no room, before any work is done for it. It is possible only while the
 * list of keys is fresh, so that the key is known without waiting. undefined: the request is handled as usual.
 */
export function refuseCrowded(
  arrival: Arrival,
  target: 'store' | 'node',
  { keyring, queues }: Pick<Gate, 'keyring' | 'queues'>,
): Busy | undefined {
  try {
    const caller = keyring.checkCached(getRequestKey(arrival))
    if (caller === undefined) return undefined
    arrival.logFields.key = caller.id
    queues[target].check(caller.id)
  } catch (error) {
    if (error instanceof Busy) return error
  }
  return undefined
}

/**
 * The caller, found by the key of the request. Throws 'rate_limited' for a network that sends one more wrong key after
 * too many. Valid keys of such a network are accepted.
 */
export async function identify(arrival: Arrival, { keyring, addresses }: IdentifyDeps): Promise<Caller> {
  const key = getRequestKey(arrival)
  const known = keyring.checkCached(key)
  if (known !== undefined) return known
  const network = arrival.client?.network
  if (network === undefined) return keyring.check(key)
  const wait = addresses.wrongKeyWaitMs(network)
  try {
    return await keyring.check(key, wait > 0 ? 'hasty' : 'careful')
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'unauthorized') throw error
    if (wait > 0) throw tooManyWrong(wait)
    addresses.noteWrongKey(network)
    throw error
  }
}

/**
 * Counts a visit of a page, or a refresh of an open one. Refreshes have a limit of their own, so that open
 * pages leave their readers all visits. Visitors of unknown networks are not limited, but share one key for
 * permits. Returns the key of the visitor's permits: the widest of its networks, so that the holder of many networks has
 * the permits of one. Throws 'rate_limited'.
 */
export function countVisit(
  addresses: Pick<AddressLimits, 'visit' | 'refresh'>,
  { client }: Pick<Arrival, 'client'>,
  as: 'visit' | 'refresh',
): string {
  if (client === undefined) return 'visitor'
  const { network } = client
  const wait = addresses[as](network)
  if (wait > 0) throw tooManyVisits(wait)
  return listNetworks(network).at(-1) ?? network
}

/**
 * Admits a visitor who has no key. A page has no plan; each thousand rows of a file count as one more visit, and wait
 * until one is allowed. Throws 'rate_limited' and 'unavailable'.
 */
export function admitVisitor(
  { client }: Pick<Arrival, 'client'>,
  as: 'visit' | 'refresh' | 'file',
  { queues, addresses, clock }: Pick<Gate, 'queues' | 'addresses' | 'clock'>,
): CallerPermits {
  const key = countVisit(addresses, { client }, as === 'refresh' ? as : 'visit')
  queues.visitors.check(key)
  const countFurtherVisit = async (signal: AbortSignal): Promise<void> => {
    if (client !== undefined) await waitUntilCounted(() => addresses.visit(client.network), clock, signal)
  }
  const plan = {
    require: () => undefined,
    mostRows: MAX_ROWS_WITHOUT_KEY,
    more: as === 'file' ? countFurtherVisit : async () => undefined,
  }
  return createPermits(queues, { key, plan, isVisitor: true })
}

/**
 * The permits of a key, or of a visitor by network. Visitors have a queue of their own for the store, and downloads of
 * their own. Aside, for lookups and for rankings, all visitors together have the permits of one key.
 */
export function createPermits(
  queues: Queues,
  caller: {
    readonly key: string
    readonly plan: CallerPermits['plan']
    readonly isVisitor?: true
  },
): CallerPermits {
  const { key, plan, isVisitor = false } = caller
  const asideKey = isVisitor ? VISITORS_KEY : key
  return {
    store: signal => async () => {
      const permit = await queues[isVisitor ? 'visitors' : 'store'].take(key, signal)
      const change = <T>(queue: FairQueue, work: () => Promise<T>): Promise<T> => {
        permit.leave()
        return holdPermit(() => queue.take(asideKey, signal), work)
      }
      const longWork: LongWork = {
        enqueue: (work, isWhole) => change(isWhole ? queues.wholeRankings : queues.rankings, work),
        mostRows: plan.mostRows,
        require: plan.require,
        more: () => plan.more(signal),
      }
      return {
        waitForNode: work => change(queues.aside, work),
        waitAfterRead: work => change(queues.lookups, work),
        longWork,
        leave: permit.leave,
      }
    },
    node: signal => () => queues.node.take(key, signal),
    export: () => takeStreamPermit(queues, isVisitor ? 'downloads' : 'exports', key),
    feed: () => takeStreamPermit(queues, 'feeds', key),
    plan,
  }
}

/** The key of all visitors together. Ids of keys are hexadecimal. */
const VISITORS_KEY = 'visitors'

/** Pause before a permit is requested again. A response body that takes minutes can wait while the service is busy. */
const RETRY_MS = 100

/**
 * The permits of a stream. Once it is open, each is requested until there is one: a response body in progress yields to
 * requests, and is not aborted by them.
 */
export const retryPermit =
  (
    acquire: AcquirePermit,
    isOpen: () => boolean,
    { clock, signal }: { readonly clock: Pick<Clock, 'sleep'>; readonly signal: AbortSignal },
  ): AcquirePermit =>
  async () => {
    for (;;) {
      try {
        return await acquire()
      } catch (error) {
        if (!isOpen() || !(error instanceof Busy)) throw error
      }
      await pause(RETRY_MS, clock, signal)
    }
  }

type PlanDeps = Pick<Gate, 'rates' | 'clock' | 'keyring'> & { readonly arrival: Arrival }

/** Most rows that are read for one answer to a caller without a key of its own: ten pages of the largest size. */
const MAX_ROWS_WITHOUT_KEY = 10_000

const createPlanMeter = (caller: Caller, { arrival, rates, clock, keyring }: PlanDeps): CallerPermits['plan'] => ({
  more: async signal => {
    await waitUntilCounted(() => rates.takeMore(caller), clock, signal)
    // Long work ends when its key is revoked or expires meanwhile.
    const refusal = keyring.refusalCheck()?.(hashOfKey(getRequestKey(arrival)))
    if (refusal !== undefined) throw refusal
  },
  require: requests => rates.requireToday(caller, requests),
  mostRows: caller.id === TEST_KEY_ID ? MAX_ROWS_WITHOUT_KEY : undefined,
})

/** Repeats `count`, which returns the milliseconds after which to try again, until it returns 0: counted. */
async function waitUntilCounted(count: () => number, clock: Pick<Clock, 'sleep'>, signal: AbortSignal): Promise<void> {
  for (let ms = count(); ms > 0; ms = count()) await pause(ms, clock, signal)
}

/** Waits, unless `signal` aborts: then its reason is thrown. */
async function pause(ms: number, clock: Pick<Clock, 'sleep'>, signal: AbortSignal): Promise<void> {
  await clock.sleep(ms, signal)
  signal.throwIfAborted()
}

const tooFast = ({ limit, scope, retryAfter }: RateAnswer): Failure =>
  new Failure('rate_limited', `This API key is limited to ${limit} requests per ${scope}.`, {
    zh: `此 API key 每${scope === 'day' ? '天' : '秒'}最多 ${limit} 次请求。`,
    details: { retryAfter },
  })

const toRetrySeconds = (ms: number) => ({ retryAfter: Math.max(1, Math.ceil(ms / 1_000)) })

const tooManyWrong = (ms: number): Failure =>
  new Failure('rate_limited', 'Too many requests with unknown API keys came from this network address.', {
    zh: '此网络地址使用不存在的 API key 发出的请求过多。',
    details: toRetrySeconds(ms),
  })

const tooManyTests = (ms: number): Failure =>
  new Failure(
    'rate_limited',
    'This network address has used its share of the shared test key; ask the operator for an API key of your own.',
    { zh: '此网络地址已用完共享测试 key 的配额；请向运营者申请自己的 API key。', details: toRetrySeconds(ms) },
  )

const tooManyVisits = (ms: number): Failure =>
  new Failure('rate_limited', 'Too many pages were opened from this network address within a minute.', {
    zh: '此网络地址在一分钟内打开的页面过多。',
    details: toRetrySeconds(ms),
  })

/** The key of a request, from `apikey` or `X-API-Key`; both only if they agree. */
export function getRequestKey({ keys, request }: Arrival): string {
  const [key = ''] = keys
  if (keys.length > 1)
    throw badRequest(
      {
        en: `Parameter 'apikey' is given ${keys.length} times; give it once.`,
        zh: `参数 'apikey' 出现了 ${keys.length} 次，只能提供一次。`,
      },
      { parameter: 'apikey' },
    )
  const header = request.headers.get('x-api-key')
  if (header !== null && keys.length === 1 && header !== key)
    throw badRequest(
      {
        en: "Parameter 'apikey' and header X-API-Key differ; give only one of them.",
        zh: "参数 'apikey' 与请求头 X-API-Key 不一致；请只提供其中一个。",
      },
      { parameter: 'apikey' },
    )
  const given = keys.length === 1 ? key : (header ?? '')
  if (given === '')
    throw new Failure('unauthorized', "An API key is required; give it in the parameter 'apikey'.", {
      zh: "缺少 API key；请通过参数 'apikey' 提供。",
    })
  return given
}
