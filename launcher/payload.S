// The file that LBC_FILE names, below the folder in which this is assembled, as `lbc_payload`.
#if defined(__APPLE__)
#define NAME _lbc_payload
.section __DATA,__const
#elif defined(_WIN32)
#define NAME lbc_payload
.section .rdata,"dr"
#else
#define NAME lbc_payload
.section .rodata,"a",%progbits
#endif
.globl NAME
.balign 16
NAME:
.incbin LBC_FILE
#if defined(__ELF__)
.section .note.GNU-stack,"",%progbits
#endif
