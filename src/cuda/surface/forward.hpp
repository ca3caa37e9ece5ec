// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// One jump per exported function: arguments, whatever they are, stay where the caller put them.
#pragma once

#if defined(__x86_64__)

#define SLUICE_FORWARD(name, target)                                                                         \
  asm(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n  jmp " #target "@PLT\n.size " #name \
      ", .-" #name "\n");

#define SLUICE_REFUSE(name, target)                                                          \
  asm(".section .rodata\n.Lname_" #name ": .asciz \"" #name                                  \
      "\"\n"                                                                                 \
      ".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n  lea .Lname_" #name \
      "(%rip), %rdi\n  jmp " #target "@PLT\n.size " #name ", .-" #name "\n");

#elif defined(__aarch64__)

#define SLUICE_FORWARD(name, target)                                                                   \
  asm(".text\n.globl " #name "\n.type " #name ", %function\n" #name ":\n  b " #target "\n.size " #name \
      ", .-" #name "\n");

#define SLUICE_REFUSE(name, target)                                                                          \
  asm(".section .rodata\n.Lname_" #name ": .asciz \"" #name                                                  \
      "\"\n"                                                                                                 \
      ".text\n.balign 4\n.globl " #name "\n.type " #name ", %function\n" #name ":\n  adrp x0, .Lname_" #name \
      "\n  add x0, x0, :lo12:.Lname_" #name "\n  b " #target "\n.size " #name ", .-" #name "\n");

#else
#error "sluice's engine runs on x86-64 and aarch64"
#endif
