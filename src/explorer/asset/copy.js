// Buttons that copy a text. The document listens, since rows with such buttons may be added later.

document.addEventListener('click', async ({ target }) => {
  const button = target instanceof Element ? target.closest('.copy') : null
  if (!(button instanceof HTMLElement)) return
  try {
    await navigator.clipboard.writeText(button.dataset['copy'] ?? '')
  } catch {
    // Access to the clipboard is denied. The text is visible beside the button.
    return
  }
  button.classList.add('done')
  setTimeout(() => button.classList.remove('done'), 1_500)
})
