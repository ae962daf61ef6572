"""The concurrency: the kernel (mailbox, dispatcher, timers, futures) and one actor a file."""
