import { type FeedHub, feedHub } from '#actions/feed/hub.ts'
import { type Failure, PublicFailure } from '#failure/failure.ts'
import { runEvery } from '#time/clock.ts'
import type { AppOptions } from '../app-options.ts'

/** An open feed or an export that is being sent, for the code that may end it. */
type OpenStream = {
  /**
   * Set for an export. It cannot be continued, so it is sent to its end when the service stops, and while keys cannot be
   * checked.
   */
  readonly isExport?: true
  /** Hash of the feed's key (`hashOfKey`); undefined: the feed has no key. */
  readonly keyHash: string | undefined
  /** Sends a last event that gives the reason. */
  end(failure: Failure): void
  /** Closes the connection, even if the client has not read everything. */
  cutOff(): void
}

/** The feeds of the service. */
export type OpenFeeds = {
  readonly hub: FeedHub
  /** Adds a feed or an export until the returned function is called. A feed added while the service stops is ended. */
  add(feed: OpenStream): () => void
}

/** Milliseconds between two checks of the feeds' keys. */
const POLL_MS = 100
/** Checks in a row without a reliable list of keys, after which the feeds end: a feed may not outlive its key. */
const CHECKS_IN_DOUBT = 2
/** When the service stops, a client has this long to read the last event. */
const LAST_MS = 1_000

/** Ends feeds and exports whose keys are no longer valid, and all feeds when the service stops. */
export function openFeeds({
  store,
  keyring,
  clock,
  head,
  stopping,
}: Pick<AppOptions, 'store' | 'keyring' | 'clock' | 'head' | 'stopping'>): OpenFeeds {
  const feeds = new Set<OpenStream>()
  let watching: { stop(): void } | undefined
  let doubts = 0
  const check = (): void => {
    const refused = keyring.refusalCheck()
    doubts = refused === undefined ? doubts + 1 : 0
    const isInDoubt = doubts >= CHECKS_IN_DOUBT
    for (const feed of [...feeds]) {
      if (feed.keyHash === undefined) continue
      const doubt = isInDoubt && feed.isExport !== true ? NO_KEYS : undefined
      const failure = doubt ?? refused?.(feed.keyHash)
      if (failure !== undefined) feed.end(failure)
    }
  }
  stopping?.signal.addEventListener('abort', () => {
    const followed = [...feeds].filter(({ isExport }) => isExport !== true)
    for (const feed of followed) feed.end(STOPPING)
    clock.after(LAST_MS, () => {
      for (const feed of feeds) if (feed.isExport !== true) feed.cutOff()
    })
  })
  return {
    hub: feedHub(store, clock, head),
    add: feed => {
      feeds.add(feed)
      watching ??= runEvery(clock, POLL_MS, check)
      if (stopping?.signal.aborted === true && feed.isExport !== true) feed.end(STOPPING)
      return () => {
        feeds.delete(feed)
        if (feeds.size > 0) return
        watching?.stop()
        watching = undefined
        doubts = 0
      }
    },
  }
}

const STOPPING = new PublicFailure('unavailable', 'The service is stopping; connect again.', {
  zh: '服务正在停止；请重新连接。',
})

const NO_KEYS = new PublicFailure('unavailable', 'API keys cannot be checked at the moment.', {
  zh: '暂时无法校验 API key。',
})
