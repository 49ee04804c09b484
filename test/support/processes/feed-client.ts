export type FeedEvent = { readonly id: string | undefined; readonly event: string; readonly data: string }

/** The events of a `text/event-stream`, parsed by html.spec.whatwg.org ("Server-sent events"), without comments. */
export const feedEvents = async function* (
  body: ReadableStream<Uint8Array> | null,
): AsyncGenerator<FeedEvent, void, void> {
  for await (const message of feedMessages(body)) if (message.data !== '') yield message
}

/** The same, including the beginning, here without name and data: its id is that of a client without rows. */
export const feedMessages = async function* (
  body: ReadableStream<Uint8Array> | null,
): AsyncGenerator<FeedEvent, void, void> {
  if (body === null) return
  const decoder = new TextDecoder()
  let text = ''
  for await (const part of body) {
    text += decoder.decode(part, { stream: true })
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const event = eventOf(text.slice(0, end))
      text = text.slice(end + 2)
      yield event
    }
  }
}

/** Adds the events of a feed to `events`, until the client leaves: the body then ends with an error. */
export async function collectEvents(body: Response['body'], signal: AbortSignal, events: FeedEvent[]): Promise<void> {
  try {
    for await (const event of feedEvents(body)) events.push(event)
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

function eventOf(text: string): FeedEvent {
  let id: string | undefined
  let event = 'message'
  const data: string[] = []
  for (const line of text.split('\n')) {
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    if (field === 'id') id = value
    if (field === 'event') event = value
    if (field === 'data') data.push(value)
  }
  return event === 'begin' ? { id, event: 'message', data: '' } : { id, event, data: data.join('\n') }
}
