// What pages do in a browser beside being read. It is served, not run here, and pages can be read without it.

/** Buttons that copy a text. */
for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll('.copy'))) {
  button.hidden = false
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.dataset['copy'] ?? '')
    button.classList.add('done')
    setTimeout(() => button.classList.remove('done'), 1_500)
  })
}
