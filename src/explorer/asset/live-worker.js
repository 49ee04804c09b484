// One event stream for all windows of a browser. Over HTTP/1.1 a browser opens six connections to a host, so a stream of
// each window would leave none for the sixth one to load with. The name of the worker is the address of the stream.

/** The visible windows. @type {Set<MessagePort>} */
const windows = new Set()

/** @type {EventSource | undefined} */
let stream
/** The last messages, for windows that join later. @type {Map<string, object>} */
const last = new Map()

/** @param {object} message */
const tell = message => {
  for (const port of windows) port.postMessage(message)
}

const open = () => {
  const own = new EventSource(self.name)
  stream = own
  for (const type of ['message', 'standing'])
    own.addEventListener(type, ({ data }) => {
      const message = { type, data }
      last.set(type, message)
      tell(message)
    })
  own.addEventListener('error', () => {
    last.clear()
    const isClosed = own.readyState === EventSource.CLOSED
    if (isClosed) stream = undefined
    tell({ type: 'error', isClosed })
  })
}

const close = () => {
  stream?.close()
  stream = undefined
  last.clear()
}

self.addEventListener('connect', event => {
  if (!(event instanceof MessageEvent)) return
  const [port] = event.ports
  port?.addEventListener('message', ({ data: isSeen }) => {
    if (isSeen) windows.add(port)
    else windows.delete(port)
    if (windows.size === 0) close()
    else if (stream === undefined) open()
    else if (isSeen) for (const message of last.values()) port.postMessage(message)
  })
  port?.start()
})
