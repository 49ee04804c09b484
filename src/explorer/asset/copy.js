// Buttons that copy a text. They are in rows that come later, too, so the document listens.

document.addEventListener('click', async ({ target }) => {
  const button = target instanceof Element ? target.closest('.copy') : null
  if (!(button instanceof HTMLElement)) return
  try {
    await navigator.clipboard.writeText(button.dataset['copy'] ?? '')
  } catch {
    // Not allowed here: the text stands beside the button.
    return
  }
  button.classList.add('done')
  setTimeout(() => button.classList.remove('done'), 1_500)
})
