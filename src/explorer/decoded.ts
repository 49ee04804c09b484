/** What an escaped segment of a path stands for; one that stands for nothing names nothing either. */
export const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
