/** What a service says that did not get to read its keys for a second, as on a busy machine: ask again. */
const KEYS_UNREAD = 'API keys cannot be checked at the moment.'

/** Asks on a connection of its own, again while the service cannot check keys; status, headers and text of the answer. */
export const askAlone = async (url: string) => {
  for (;;) {
    const response = await fetch(url, { keepalive: false, headers: { Connection: 'close' } })
    const { status, headers } = response
    const text = await response.text()
    if (status !== 503 || !text.includes(KEYS_UNREAD)) return { status, headers, text }
    await Bun.sleep(50)
  }
}
