import { type Failure, type Log, toFailure } from '#failure/failure.ts'
import { Busy } from '#gate/queue.ts'
import { runEvery, SECOND_MS } from '#time/clock.ts'
import { requestLabels } from './counts.ts'
import { ClientGone, type Exchange, type Service } from './exchange.ts'
import { pausedFeed } from './feed/reply.ts'
import { failureReply, isStreamed, PIECE_BYTES, type Reply, refusalText, textReply, toResponse } from './reply.ts'

/** The last step of a request: its Response, its counts, and its line in the access log. */

type SendDeps = Pick<Service, 'log' | 'counts' | 'clock' | 'isLogged' | 'stopping' | 'writeFailure' | 'connections'>

/**
 * The outcome of a request: `kind` for the log, `reason` for the count of refusals (undefined: it was not refused), and
 * `why` for the log: what was wrong with the request.
 */
type Outcome = { readonly kind: string; readonly reason?: string | undefined; readonly why?: string | undefined }

/** nginx's status for a client that closed the connection. It is only logged. */
const GONE_STATUS = 499

/** Sends a success, or a failure that is already a reply. */
export function send(exchange: Exchange, reply: Reply & { readonly outcome?: Outcome }, service: SendDeps): Response {
  const { request, id, headers } = exchange
  const { kind, reason, why } = reply.outcome ?? { kind: 'ok' }
  const response = toResponse(reply, request, { id, own: headers })
  if (service.stopping?.signal.aborted === true) response.headers.set('Connection', 'close')
  const { status } = response
  const { body } = reply
  if (!isStreamed(body)) {
    const bytes = Number(response.headers.get('Content-Length') ?? 0)
    note(exchange, { kind, reason, why, status, bytes }, service)
    if (reply.held !== undefined && bytes > PIECE_BYTES) watchBody(request, reply.held, service)
    else reply.held?.free()
  } else {
    // The idle time runs while no piece is made, too. The stream has a limit of its own for clients that read nothing.
    service.connections?.limitIdle(request, 0)
    // Otherwise a stop would close the connection as after the last piece.
    const cut = (): void => body.cutOff('unavailable')
    const running = service.stopping?.running
    running?.add(cut)
    void body.ended.then(({ kind, bytes, cause }) => {
      running?.delete(cut)
      if (cause !== undefined) logCause(service.log, cause, id)
      const reason = kind === 'ok' || kind === 'gone' ? undefined : kind
      note(exchange, { kind, status, bytes, reason }, service)
    })
  }
  return response
}

/** Milliseconds between two looks whether a body was sent: short, because a client's next export needs the permit. */
const LOOK_MS = 10
/** The longest idle timeout that Bun allows. */
const MAX_IDLE_SECONDS = 255

/**
 * Frees what a body of known length holds when it was sent, or its client left or stalled. Bun reports the progress of
 * streams only, and a stream has no length.
 */
function watchBody(
  request: Request,
  { stallMs, free }: NonNullable<Reply['held']>,
  { clock, connections }: SendDeps,
): void {
  connections?.limitIdle(request, Math.min(MAX_IDLE_SECONDS, Math.ceil(stallMs / SECOND_MS)))
  const looking = runEvery(clock, LOOK_MS, () => {
    if (connections?.isOpen(request) === true) return
    looking.stop()
    free()
  })
}

/** Sends the failure that a step threw. */
export async function sendFailure(exchange: Exchange, error: unknown, service: SendDeps): Promise<Response> {
  if (error instanceof ClientGone) {
    const nothing = textReply(GONE_STATUS, { type: 'text/plain', text: '' })
    return send({ ...exchange, headers: {} }, { ...nothing, outcome: { kind: 'gone' } }, service)
  }
  const failure = toFailure(error)
  // A refusal for lack of room needs no second log entry.
  if (!(failure instanceof Busy)) logCause(service.log, failure, exchange.id)
  const written = await service.writeFailure?.(exchange, failure)
  return written === undefined
    ? sendRefusal(exchange, failure, service)
    : send(exchange, { ...written, outcome: toOutcome(failure, exchange) }, service)
}

/** Sends a failure in the form of the API, synchronously: an overloaded service spends most of its time on refusals. */
export function sendRefusal(exchange: Exchange, failure: Failure, service: SendDeps): Response {
  const reply = pausedFeed(exchange, failure) ?? failureReply(failure, exchange.replyOptions, exchange.id)
  return send(exchange, { ...reply, outcome: toOutcome(failure, exchange) }, service)
}

const toOutcome = (failure: Failure, { replyOptions }: Exchange): Outcome => ({
  kind: failure.kind,
  reason: failure instanceof Busy ? 'busy' : failure.kind,
  why: refusalText(failure, replyOptions.secrets),
})

function note(
  { id, route, logFields, client, started }: Exchange,
  { kind, reason, why, status, bytes }: Outcome & { readonly status: number; readonly bytes: number },
  { log, clock, counts, isLogged }: SendDeps,
): void {
  const ms = Math.round((clock.elapsed() - started) * 100) / 100
  const full = `${route}/${logFields.module ?? ''}/${logFields.action ?? ''}`
  // An action under a module that does not have it is not counted as an action.
  const labels = requestLabels.has(full) ? full : `${route}//`
  counts.requests.add(1, labels, String(status))
  counts.durations.observe(ms / 1_000, labels)
  counts.sentBytes.add(bytes, labels)
  if (reason !== undefined) counts.refusals.add(1, reason)
  if (reason === 'damaged') counts.damageMet.set(1)
  if (kind === 'ok' && status < 400 && !isLogged()) return
  log(kind === 'defect' ? 'error' : 'info', 'Answered request.', {
    id,
    route,
    ...logFields,
    ...(client === undefined ? {} : { client: client.address }),
    kind,
    status,
    ms,
    bytes,
    ...(why === undefined ? {} : { reason: why }),
  })
}

/** Logs the details that callers do not receive, with the request's id. */
function logCause(log: Log, failure: Failure, id: string): void {
  const { kind, message, cause } = failure
  const inner = cause instanceof Error ? { cause: cause.stack ?? cause.message } : {}
  if (kind === 'defect' || kind === 'usage')
    log('error', 'A request failed because of a bug.', {
      id,
      kind,
      error: message,
      stack: failure.stack ?? '',
      ...inner,
    })
  else if (kind === 'damaged')
    log('error', 'A request met damage in the store.', { id, error: message, help: failure.help ?? '' })
  else if (kind === 'unavailable' || kind === 'conflict' || kind === 'bad_block' || kind === 'deadline')
    log('warn', 'A request could not be served.', { id, kind, error: message, ...inner })
}

/** Decides which successes are logged: the first of every `each`; none when `each` is 0. */
export function createSampling(each: number): () => boolean {
  if (each === 0) return () => false
  let count = 0
  return () => {
    count = (count % each) + 1
    return count === 1
  }
}
