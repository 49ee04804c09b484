/** The answer of a service that could not read its keys for a second, as on a busy machine. */
const KEYS_UNREAD = 'API keys cannot be checked at the moment.'

/** Sends a request on a new connection, and again while the service cannot check keys. */
export async function askAlone(url: string) {
  for (;;) {
    const response = await fetch(url, { keepalive: false, headers: { Connection: 'close' } })
    const { status, headers } = response
    const text = await response.text()
    if (status !== 503 || !text.includes(KEYS_UNREAD)) return { status, headers, text }
    await Bun.sleep(50)
  }
}
